// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Names of a trace and of files are anybody's characters. Some turn the text behind them, and some
// show nothing: two names then look the same. The command writes the same characters as escapes
// (analysis/base/plain_text.cc).

// What scripts and pictures are spelt with: a selector behind an emoji, a joiner between two, a
// joiner behind a virama, and one between letters of Arabic script.
const EMOJI = "(?:(?![\\u00a9\\u00ae])\\p{Extended_Pictographic})";
const ARABIC = "[\\u0620-\\u06ff\\u0750-\\u077f\\u08a0-\\u08ff]";
const VIRAMA =
  "[\\u094d\\u09cd\\u0a4d\\u0acd\\u0b4d\\u0bcd\\u0c4d\\u0ccd\\u0d3b-\\u0d3c\\u0d4d\\u0dca" +
  "\\u0e3a\\u0eba\\u0f84\\u1039-\\u103a\\u1714-\\u1715\\u1734\\u17d2\\u1a60\\u1b44" +
  "\\u1baa-\\u1bab\\u1bf2-\\u1bf3\\u2d7f\\ua806\\ua82c\\ua8c4\\ua953\\ua9c0\\uaaf6\\uabed" +
  "\\u{10a3f}\\u{11046}\\u{11070}\\u{1107f}\\u{110b9}\\u{11133}-\\u{11134}\\u{111c0}" +
  "\\u{11235}\\u{112ea}\\u{1134d}\\u{11442}\\u{114c2}\\u{115bf}\\u{1163f}\\u{116b6}" +
  "\\u{1172b}\\u{11839}\\u{1193d}-\\u{1193e}\\u{119e0}\\u{11a34}\\u{11a47}\\u{11a99}" +
  "\\u{11c3f}\\u{11d44}-\\u{11d45}\\u{11d97}]";
const SPELLING =
  `(?<=${EMOJI})[\\ufe0e\\ufe0f]` +
  `|(?<=${EMOJI}[\\u{1f3fb}-\\u{1f3ff}]?[\\ufe0e\\ufe0f]?)\\u200d(?=${EMOJI})` +
  `|(?<=${VIRAMA})[\\u200c\\u200d]|(?<=${ARABIC})\\u200c(?=${ARABIC})`;
const UNSEEN = "[\\p{Default_Ignorable_Code_Point}\\p{Cs}\\u2028\\u2029\\ufff9-\\ufffb]";
// HTML takes line feeds and tabs for blanks.
const HARMFUL = new RegExp(`${SPELLING}|(${UNSEEN}|(?![\\t\\n\\r])\\p{Cc})`, "gu");

/** Writes a character as the command does. */
function escapeOf(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  const digits = code.toString(16);
  return code > 0xffff ? `\\U${digits.padStart(8, "0")}` : `\\u${digits.padStart(4, "0")}`;
}

/** Returns a text with escapes, or what `told` makes, in place of its harmful characters. */
export function plain(text: string, told: (character: string) => string = escapeOf): string {
  return text.replace(HARMFUL, (found: string, harmful: string | undefined) =>
    harmful === undefined ? found : told(harmful),
  );
}
