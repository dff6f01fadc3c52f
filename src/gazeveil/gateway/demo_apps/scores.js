// SPDX-FileCopyrightText: 2026 The gazeveil authors
// SPDX-License-Identifier: Apache-2.0
// Keeps results apart by level, so that one can see what a level costs.

export const median = (values) => {
  if (values.length === 0) return null;
  const sorted = [...values].sort((a, b) => a - b);
  const half = sorted.length >> 1;
  return sorted.length % 2 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
};

export class Scores {
  constructor(fresh) {
    Object.assign(this, { fresh, levels: new Map(), level: "" });
  }

  get now() {
    if (!this.levels.has(this.level)) this.levels.set(this.level, this.fresh());
    return this.levels.get(this.level);
  }

  /** `[[level, result], …]` of the levels that were played, the latest last. */
  get played() {
    return [...this.levels].filter(([, result]) => result.played);
  }
}
