// SPDX-FileCopyrightText: 2026 The gazeveil authors
// SPDX-License-Identifier: Apache-2.0
// A text in short lines.

export const TEXT = `Eyes are quicker than hands.
They rest, then leap, three times a second.
Whoever sees them move sees much more
than the place that was looked at.
They linger on what a person likes.
They pass by what a person knows.
They slow down where a word is hard,
and come back to what worries them.
How they leap differs from one person
to the next, nearly like handwriting.
So a game that wants to know where to aim
may learn who is playing, too.
This app does not get your gaze.
It gets your gaze behind a veil:
points are moved at random,
further at a stricter level.
The stricter the level, the harder it is
for this text to find your line.
Read on, and count the lines it loses.
Then choose another level and read again.
That is the price, and you decide it.
A reader that scrolls needs no points.
It could make do with fixations,
or with the name of the part you read.
Give an app what it needs,
and not a glance more.`
  .split("\n");
