// SPDX-FileCopyrightText: 2026 The gazeveil authors
// SPDX-License-Identifier: Apache-2.0
// The search of the site without a browser: node search.js WORKER INDEX QUERY..., one line of JSON for each query.
"use strict";
const fs = require("node:fs");
const vm = require("node:vm");

const [worker, index, ...queries] = process.argv.slice(2);
const { config, docs } = JSON.parse(fs.readFileSync(index, "utf8"));
let handle;
let answer;
const self = {
  addEventListener: (_, handler) => { handle = handler; },
  postMessage: (message) => answer(message),
  console,
};
self.self = self;
vm.runInContext(fs.readFileSync(worker, "utf8"), vm.createContext(self));

const ask = (data) => new Promise((resolve) => {
  answer = resolve;
  handle({ data });
});

(async () => {
  await ask({ type: 0, data: { config, docs, options: { suggest: false } } });
  for (const query of queries) {
    const found = await ask({ type: 2, data: query });
    console.log(JSON.stringify(found.data.items.map((pages) => pages[0].location.split("#")[0])));
  }
})();
