// SPDX-FileCopyrightText: 2026 The gazeveil authors
// SPDX-License-Identifier: Apache-2.0
// Who may use this page: a one-time key in the address becomes a token that this tab keeps.

const SLOT = "gazeveil-token";

export const token = () => sessionStorage.getItem(SLOT);
export const forget = () => sessionStorage.removeItem(SLOT);

/** The key in a link, or in its part after `#`; null if there is none. */
export function keyIn(link) {
  const found = /[#&]key=([A-Za-z0-9_.-]+)/.exec(link);
  return found ? found[1] : null;
}

/** Take the key out of the address, so that it is neither kept in the history nor seen by others. */
export function keyFromAddress() {
  const key = keyIn(location.hash);
  if (key) history.replaceState(null, "", location.pathname);
  return key;
}

/** Exchange a key for a token; returns whether it worked, throws where nobody answers. */
export async function exchange(key) {
  const answer = await fetch("v1/page/session", {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ key }),
  });
  if (!answer.ok) return false;
  sessionStorage.setItem(SLOT, (await answer.json()).token);
  return true;
}
