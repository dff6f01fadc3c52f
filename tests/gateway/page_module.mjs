// SPDX-FileCopyrightText: 2026 The gazeveil authors
// SPDX-License-Identifier: Apache-2.0
// Runs veils of gazeveil.js on what comes in as JSON, and writes what they show. A number that JSON has not is a string.
import { readFileSync } from "node:fs";
import { NoiseSource, startVeil } from "../../src/gazeveil/gateway/web/gazeveil.js";

const number = (value) => (value === null ? NaN : Number(value));

async function noiseOf({ key, purpose, seed, words, more }) {
  if (key !== undefined) return NoiseSource.keyed(Uint8Array.from(Buffer.from(key, "hex")), purpose);
  if (seed !== undefined) return NoiseSource.seeded(seed);
  if (words === undefined) return NoiseSource.secure();
  const left = words.map(BigInt);
  const spare = more.map(BigInt);
  const halves = (word) => [Number(word & 0xffffffffn), Number(word >> 32n)];
  const take = (count) => Uint32Array.from(left.splice(0, count).flatMap(halves));
  return { words: take, more: () => spare.shift() };
}

async function shown(job) {
  const noise = await noiseOf(job.noise);
  await noise.ahead?.(3 * job.t.length + 512);
  const veil = startVeil(job.recipe, noise);
  const [points, ticks] = [[], []];
  for (let i = 0; i < job.t.length; i++) {
    if (job.changes?.[i]) veil.change(job.t[i], job.changes[i]);
    if (job.wall) veil.pace(job.wall[i]);
    points.push(veil.step(job.t[i], number(job.x[i]), number(job.y[i])));
    const { latest } = veil;
    if (latest && latest.t_us !== ticks.at(-1)?.[0]) ticks.push([latest.t_us, latest.x, latest.y]);
  }
  const { short, statement, text, caveat } = veil.guarantee;
  return { points, ticks, faults: veil.faults, short, statement, text, caveat };
}

const jobs = JSON.parse(readFileSync(0, "utf8"));
const answers = [];
for (const job of jobs) {
  try {
    answers.push(await shown(job));
  } catch (error) {
    answers.push({ error: error.message });
  }
}
process.stdout.write(JSON.stringify(answers));
