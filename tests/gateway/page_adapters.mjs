// SPDX-FileCopyrightText: 2026 The gazeveil authors
// SPDX-License-Identifier: Apache-2.0
// gazeveil.js between fakes of WebGazer, jsPsych and a WebSocket with the interfaces that they publish. Writes what was seen.
import { connect, startVeil, VeiledGazeExtension, veiledListener } from "../../src/gazeveil/gateway/web/gazeveil.js";

const space = { kind: "screen", width: 1000, height: 800, pixels_per_degree: 30 };
const spatial = () => startVeil({ mechanism: "spatial", space, factor: 40 }); // cells of 100 px
const clock = () => startVeil({ mechanism: "clock", space, epsilon: 1, window: 1, radius: "60px" });

// WebGazer calls with what it knows of the eyes, and with null where it found none.
const webgazer = { setGazeListener: (listener) => (webgazer.listener = listener) };
const heard = [];
webgazer.setGazeListener(veiledListener(spatial(), (...given) => heard.push(given)));
webgazer.listener({ x: 123.4, y: 777, eyeFeatures: { left: { patch: [1, 2, 3] } } }, 20);
webgazer.listener(null, 40);
webgazer.listener({ x: null, y: 5 }, 60);

// A clock that stalls and then delivers seconds at once must not release more than the page's own clock allows.
let now = 0;
const veil = clock();
let released = new Set();
const listener = veiledListener(veil, () => released.add(veil.latest.t_us), () => now);
for (let i = 0; i < 6000; i++) listener({ x: 1, y: 1 }, i * 10);
const stalled = released.size;

// jsPsych: the extension subscribes during a trial, and gives veiled gaze to the trial's data.
const calls = [];
const subscribers = new Set();
const jsPsych = {
  extensions: {
    webgazer: {
      resume: () => calls.push("resume"),
      pause: () => calls.push("pause"),
      startSampleInterval: () => calls.push("start"),
      stopSampleInterval: () => calls.push("stop"),
      onGazeUpdate(callback) {
        subscribers.add(callback);
        return () => subscribers.delete(callback);
      },
    },
  },
};
const extension = new VeiledGazeExtension(jsPsych);
const during = [];
now = 5;
await extension.initialize({ veil: spatial(), on_gaze: (sample) => during.push(sample), clock: () => now });
extension.on_start();
extension.on_load();
for (const callback of subscribers) {
  now = 5.034;
  callback({ x: 450, y: 120, t: 3 });
}
const trial = extension.on_finish();
const refused = await new VeiledGazeExtension(jsPsych).initialize({}).catch((error) => error.message);

// A gateway that goes away and comes back, says what it has to say, and at last ends it by policy.
const waits = [];
globalThis.setTimeout = (job, ms) => waits.push([job, ms]);
const sockets = [];
globalThis.WebSocket = class {
  constructor(url) {
    this.url = url;
    sockets.push(this);
  }
  close() {
    this.onclose({ code: 1000 });
  }
};
const told = [];
const names = ["hello", "sample", "fixation", "hit", "silence", "end", "state"];
const callbacks = Object.fromEntries(names.map((name) => [name, (...given) => told.push([name, ...given])]));
const line = connect("ws://127.0.0.1:1", callbacks);
for (let i = 0; i < 6; i++) {
  sockets.at(-1).onclose({ code: 1006 });
  waits.at(-1)[0]();
}
const say = (message) => sockets.at(-1).onmessage({ data: typeof message === "string" ? message : JSON.stringify(message) });
sockets.at(-1).onopen();
say({ type: "hello", guarantee: "ε=1" });
for (const odd of ["{", "null", "7", { type: "state" }, { type: "toString" }, { type: "new in version 2" }]) say(odd);
say({ t: 1, x: 0.5, y: 0.5, unit: "norm", valid: true });
say({ type: "fixation", t: 1, x: 0.5, y: 0.5, unit: "norm", duration: 0.2, number: 1 });
say({ type: "hit", t: 1, area: null });
say({ type: "silence" });
sockets.at(-1).onclose({ code: 1001 });
waits.at(-1)[0]();
say({ type: "end", reason: "the budget is spent" });
sockets.at(-1).onclose({ code: 1008 });
const after = waits.length;

process.stdout.write(
  JSON.stringify({
    heard, stalled, calls, during, trial, subscribers: subscribers.size, refused, info: VeiledGazeExtension.info.name,
    pauses: waits.map(([, ms]) => ms), after, hello: line.hello(),
    told: told.filter(([name]) => name !== "state"),
    states: told.filter(([name]) => name === "state").map(([, state]) => state),
  }),
);
