// SPDX-FileCopyrightText: 2026 The gazeveil authors
// SPDX-License-Identifier: Apache-2.0
// Requests to the gateway, and the two ways in which they fail.
import { token } from "./session.js";

/** Nobody answers. */
export class Gone extends Error {}

/** The gateway answered no. `status` is HTTP's. */
export class Refused extends Error {
  constructor(status, told) {
    super(told.message ?? `the gateway answered ${status}`);
    this.status = status;
    this.hint = told.hint ?? "";
  }

  get words() {
    return this.hint ? `${this.message}. ${this.hint}` : this.message;
  }
}

async function ask(path, options = {}) {
  const headers = { Authorization: `Bearer ${token()}`, ...options.headers };
  let answer;
  try {
    answer = await fetch(path, { ...options, headers, cache: "no-store" });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Gone("no answer");
  }
  if (answer.ok) return answer;
  let told = {};
  try {
    told = await answer.json();
  } catch {
    // The status says enough.
  }
  throw new Refused(answer.status, told);
}

async function json(answer) {
  try {
    return await answer.json();
  } catch {
    throw new Gone("the answer broke off");
  }
}

const within = (ms) => AbortSignal.timeout(ms);

export async function get(path) {
  try {
    return await json(await ask(path, { signal: within(6000) }));
  } catch (error) {
    if (error.name === "TimeoutError") throw new Gone("no answer in time");
    throw error;
  }
}

export async function post(path, body = {}) {
  const headers = { "Content-Type": "application/json" };
  return json(await ask(path, { method: "POST", headers, body: JSON.stringify(body) }));
}

export const blob = async (path) => (await ask(path)).blob();

/** Open a long answer; its body is read by whoever asked. */
export const open = (path, signal, headers = {}) => ask(path, { signal, headers });

export const appPath = (name, what) => `v1/apps/${encodeURIComponent(name)}/${what}`;
export const trackerPath = (name, what) => `v1/trackers/${encodeURIComponent(name)}/${what}`;
