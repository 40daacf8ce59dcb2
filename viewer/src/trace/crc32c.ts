// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// CRC32C (Castagnoli), with which every header of a trace ends.

const TABLE = (() => {
  const table = new Uint32Array(256);
  for (let i = 0; i < 256; i++) {
    let value = i;
    for (let bit = 0; bit < 8; bit++)
      value = (value & 1) === 1 ? (value >>> 1) ^ 0x82f63b78 : value >>> 1;
    table[i] = value;
  }
  return table;
})();

export function crc32c(bytes: Uint8Array, begin: number, end: number): number {
  let crc = 0xffffffff;
  for (let i = begin; i < end; i++)
    crc = (crc >>> 8) ^ (TABLE[(crc ^ (bytes[i] as number)) & 0xff] as number);
  return (crc ^ 0xffffffff) >>> 0;
}
