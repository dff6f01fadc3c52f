// SPDX-FileCopyrightText: 2026 The gazeveil authors
// SPDX-License-Identifier: Apache-2.0
// Drawing on a canvas: grid or picture, regions, a trail, its head and the radius. Pure: everything is given.

const SHOWN_S = 2.2;
const BANDS = 6;
const LEAP = 9; // pixels; where a veiled point leaps so far, it gets a dot
const DASHES = { raw: [], veiled: [], undone: [6, 4] };

export function drawGround(ctx, w, h, colours, picture) {
  ctx.clearRect(0, 0, w, h);
  if (picture) {
    ctx.globalAlpha = colours.dimmed;
    ctx.drawImage(picture, 0, 0, w, h);
    ctx.globalAlpha = 1;
    return;
  }
  ctx.strokeStyle = colours.line;
  ctx.lineWidth = 1;
  ctx.beginPath();
  const step = w / 16;
  for (let x = step; x < w - 1; x += step) {
    ctx.moveTo(Math.round(x) + 0.5, 0);
    ctx.lineTo(Math.round(x) + 0.5, h);
  }
  for (let y = step; y < h - 1; y += step) {
    ctx.moveTo(0, Math.round(y) + 0.5);
    ctx.lineTo(w, Math.round(y) + 0.5);
  }
  ctx.globalAlpha = 0.55;
  ctx.stroke();
  ctx.globalAlpha = 1;
}

export function drawRegions(ctx, w, h, colours, regions, scale) {
  ctx.strokeStyle = colours.region;
  ctx.lineWidth = 1.5 * scale;
  ctx.setLineDash([5 * scale, 3 * scale]);
  for (const [x0, y0, x1, y1] of regions) ctx.strokeRect(x0 * w, y0 * h, (x1 - x0) * w, (y1 - y0) * h);
  ctx.setLineDash([]);
}

/** One trail that fades with age, in a few bands of equal strength: a few strokes, however many points there are. */
export function drawTrail(ctx, w, h, trail, now, look) {
  const { colour, scale, kind } = look;
  ctx.strokeStyle = ctx.fillStyle = colour;
  ctx.lineJoin = ctx.lineCap = "round";
  ctx.lineWidth = (kind === "veiled" ? 1.4 : 2.2) * scale;
  ctx.setLineDash(DASHES[kind].map((length) => length * scale));
  let band = -1;
  let lastX = NaN;
  let lastY = NaN;
  const dots = [];
  trail.each(now, SHOWN_S, (age, shareX, shareY) => {
    const x = shareX * w;
    const y = shareY * h;
    const mine = Math.min(BANDS - 1, Math.floor(((SHOWN_S - age) / SHOWN_S) * BANDS));
    if (mine !== band) {
      if (band >= 0) ctx.stroke();
      band = mine;
      ctx.globalAlpha = 0.08 + (0.92 * (band + 1)) / BANDS;
      ctx.beginPath();
      if (!Number.isNaN(lastX)) ctx.moveTo(lastX, lastY);
    }
    if (!Number.isNaN(x)) {
      if (Number.isNaN(lastX)) ctx.moveTo(x, y);
      else ctx.lineTo(x, y);
      if (kind === "veiled" && Math.abs(x - lastX) + Math.abs(y - lastY) > LEAP * scale) dots.push(x, y, ctx.globalAlpha);
    }
    lastX = x;
    lastY = y;
  });
  if (band >= 0) ctx.stroke();
  ctx.setLineDash([]);
  for (let i = 0; i < dots.length; i += 3) {
    ctx.globalAlpha = dots[i + 2];
    ctx.fillRect(dots[i] - 1.5 * scale, dots[i + 1] - 1.5 * scale, 3 * scale, 3 * scale);
  }
  ctx.globalAlpha = 1;
}

/** The name of the area that an app with hits only is told, where it would have seen points. */
export function drawHit(ctx, w, h, area, look) {
  ctx.fillStyle = look.colour;
  ctx.textAlign = "center";
  ctx.textBaseline = "middle";
  ctx.font = `600 ${Math.round(h / 9)}px sans-serif`;
  ctx.fillText(area ? `Area ${area}` : "No area", w / 2, h / 2, 0.9 * w);
}

export function drawHead(ctx, w, h, point, look, radius) {
  const [x, y] = [point[0] * w, point[1] * h];
  const { colour, scale, paper } = look;
  ctx.strokeStyle = ctx.fillStyle = colour;
  if (radius > 0) {
    ctx.beginPath();
    ctx.arc(x, y, radius * w, 0, 2 * Math.PI);
    ctx.globalAlpha = 0.1;
    ctx.fill();
    ctx.globalAlpha = 0.7;
    ctx.lineWidth = 1.2 * scale;
    ctx.setLineDash([3 * scale, 3 * scale]);
    ctx.stroke();
    ctx.setLineDash([]);
    ctx.globalAlpha = 1;
  }
  ctx.beginPath();
  ctx.arc(x, y, 5.5 * scale, 0, 2 * Math.PI);
  ctx.fill();
  ctx.lineWidth = 2 * scale;
  ctx.strokeStyle = paper;
  ctx.stroke();
}
