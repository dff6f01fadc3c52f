// SPDX-FileCopyrightText: 2026 The gazeveil authors
// SPDX-License-Identifier: Apache-2.0
// The slider's scale: the presets from least to most private, and everything between them, on a log scale.
// A level is {epsilon, window_s, radius}. How strict it is, is one number: log(window · radius / ε).

const PARTS = ["epsilon", "window_s", "radius"];
export const STEPS = 100;

export const strictness = (level) => Math.log((level.window_s * level.radius) / level.epsilon);

export const isLevel = (level) => PARTS.every((part) => Number.isFinite(level[part]) && level[part] > 0);

/** Which values the policy lets people change: those that it gives a bound. */
export function movable(level) {
  return {
    epsilon: level.epsilon_at_most !== null,
    window_s: level.window_at_least !== null,
    radius: level.radius_at_least !== null,
  };
}

/** Round to three digits, never to the looser side, and stay within the policy's bounds. */
export function allowed(value, part, level) {
  const stricter = part === "epsilon" ? Math.floor : Math.ceil;
  const digits = 10 ** (2 - Math.floor(Math.log10(value)));
  const rounded = Number((stricter(Number((value * digits).toPrecision(9))) / digits).toPrecision(6));
  const bound = { epsilon: level.epsilon_at_most, window_s: level.window_at_least, radius: level.radius_at_least }[part];
  if (bound === null) return rounded;
  const within = part === "epsilon" ? Math.min(rounded, bound) : Math.max(rounded, bound);
  return part === "window_s" ? Math.min(within, level.window_at_most ?? Infinity) : within;
}

/** The stops of the slider, least private first. Without presets: from the policy's bounds to a tenth of that ε. */
export function stopsOf(level) {
  const stops = level.presets.filter(isLevel).map((stop) => ({ ...stop }));
  if (stops.length < 2 && isLevel(level) && Object.values(movable(level)).some(Boolean)) {
    const least = {
      epsilon: level.epsilon_at_most ?? level.epsilon,
      window_s: level.window_at_least ?? level.window_s,
      radius: level.radius_at_least ?? level.radius,
    };
    const can = movable(level);
    const most = { epsilon: least.epsilon / (can.epsilon ? 10 : 1), window_s: Math.min(least.window_s * (can.window_s ? 4 : 1), level.window_at_most ?? Infinity), radius: least.radius * (can.radius ? 4 : 1) };
    stops.push(least, most);
  }
  stops.sort((a, b) => strictness(a) - strictness(b));
  return stops.filter((stop, i) => i === 0 || strictness(stop) > strictness(stops[i - 1]));
}

/** Where a level lies on the slider, 0 to STEPS. */
export function positionOf(level, stops) {
  if (stops.length < 2 || !isLevel(level)) return 0;
  const [low, high] = [strictness(stops[0]), strictness(stops[stops.length - 1])];
  return Math.round(Math.min(1, Math.max(0, (strictness(level) - low) / (high - low))) * STEPS);
}

/** The level at a position: a stop itself where there is one, else between its neighbours. */
export function levelAt(position, stops) {
  const [low, high] = [strictness(stops[0]), strictness(stops[stops.length - 1])];
  const near = stops.find((stop) => positionOf(stop, stops) === position);
  if (near) return near;
  const wanted = low + (position / STEPS) * (high - low);
  const i = stops.findIndex((stop) => strictness(stop) >= wanted);
  const [a, b] = [stops[i - 1], stops[i]];
  const share = (wanted - strictness(a)) / (strictness(b) - strictness(a));
  return Object.fromEntries(PARTS.map((part) => [part, a[part] ** (1 - share) * b[part] ** share]));
}

/** The stop nearest to a position, for policies that allow nothing between. */
export function nearestStop(position, stops) {
  return stops.reduce((best, stop) =>
    Math.abs(positionOf(stop, stops) - position) < Math.abs(positionOf(best, stops) - position) ? stop : best,
  );
}
