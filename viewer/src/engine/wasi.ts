// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// What the engine asks of a system (WASI, snapshot preview 1): one folder of files that are only
// read, a clock, and the means to end. Everything else is refused.

/** A file of the folder. Reads are synchronous: the engine waits for them. */
export interface EngineFile {
  /** Below the bundle's folder: "bundle.pb", "rank1/p12-3f.gpt". */
  readonly path: string;
  readonly size: number;
  /** Reads a part that is within the file. */
  read(offset: number, length: number): Uint8Array;
}

/** The engine ended by itself: it had no memory, or met a state that cannot be. */
export class Ended extends Error {}

const OK = 0;
const BADF = 8;
const INVAL = 28;
const NOENT = 44;
const NOSYS = 52;
const NOTDIR = 54;
const ROFS = 69;

const CHARACTER_DEVICE = 2;
const DIRECTORY = 3;
const REGULAR = 4;

/** The folder's descriptor: the first behind those of a terminal. */
const ROOT = 3;
const OPEN_DIRECTORY = 2;
const OPEN_WRITES = 1 | 4 | 8;
const ALL_RIGHTS = 0xffff_ffffn;
const MS = 1_000_000n;

/** A place in the folder: a file, or a folder with the names in it. */
interface Place {
  readonly inode: number;
  readonly file?: EngineFile;
  readonly names: Map<string, Place>;
}

interface Opened {
  readonly place: Place;
  offset: number;
}

/** Makes the folder "/" with the bundle's folder in it. */
function treeOf(files: readonly EngineFile[], folder: string): Place {
  let inode = 1;
  const root: Place = { inode, names: new Map() };
  for (const file of files) {
    let at = root;
    const parts = `${folder}/${file.path}`.split("/");
    const last = parts.pop() ?? "";
    for (const part of parts) {
      let next = at.names.get(part);
      if (next === undefined) {
        next = { inode: ++inode, names: new Map() };
        at.names.set(part, next);
      }
      at = next;
    }
    at.names.set(last, { inode: ++inode, file, names: new Map() });
  }
  return root;
}

/** Finds a path below a place. Undefined: there is none. */
function walk(from: Place, path: string): Place | undefined {
  let at: Place | undefined = from;
  for (const part of path.split("/")) {
    if (part === "" || part === ".") continue;
    at = at?.names.get(part);
  }
  return at;
}

/** Makes the functions that the module imports. `memory`: the engine's, which may grow. */
export function makeSystem(
  files: readonly EngineFile[],
  folder: string,
  memory: () => ArrayBuffer,
  log: (text: string) => void = () => {},
): WebAssembly.ModuleImports {
  const root = treeOf(files, folder);
  const opened = new Map<number, Opened>([[ROOT, { place: root, offset: 0 }]]);
  const view = () => new DataView(memory());
  const textAt = (at: number, bytes: number) =>
    new TextDecoder().decode(new Uint8Array(memory(), at, bytes));

  const putStatus = (place: Place, at: number): number => {
    const to = view();
    to.setBigUint64(at, 1n, true);
    to.setBigUint64(at + 8, BigInt(place.inode), true);
    to.setBigUint64(at + 16, BigInt(place.file === undefined ? DIRECTORY : REGULAR), true);
    to.setBigUint64(at + 24, 1n, true);
    to.setBigUint64(at + 32, BigInt(place.file?.size ?? 0), true);
    for (const time of [40, 48, 56]) to.setBigUint64(at + time, 0n, true);
    return OK;
  };

  /** Reads into the buffers of a list. Returns how many bytes it read. */
  const readInto = (file: EngineFile, list: number, count: number, from: number): number => {
    let done = 0;
    for (let i = 0; i < count; i++) {
      const to = view().getUint32(list + 8 * i, true);
      const wanted = view().getUint32(list + 8 * i + 4, true);
      const length = Math.min(wanted, file.size - from - done);
      if (length <= 0) break;
      new Uint8Array(memory(), to, length).set(file.read(from + done, length));
      done += length;
    }
    return done;
  };

  const system: Record<string, (...args: never[]) => number> = {
    args_sizes_get: (count: number, bytes: number) => {
      view().setUint32(count, 0, true);
      view().setUint32(bytes, 0, true);
      return OK;
    },
    args_get: () => OK,
    environ_sizes_get: (count: number, bytes: number) => {
      view().setUint32(count, 0, true);
      view().setUint32(bytes, 0, true);
      return OK;
    },
    environ_get: () => OK,
    clock_time_get: (_clock: number, _precision: bigint, to: number) => {
      view().setBigUint64(to, BigInt(Math.round(Date.now())) * MS, true);
      return OK;
    },
    clock_res_get: (_clock: number, to: number) => {
      view().setBigUint64(to, MS, true);
      return OK;
    },
    fd_prestat_get: (fd: number, to: number) => {
      if (fd !== ROOT) return BADF;
      view().setUint32(to, 0, true);
      view().setUint32(to + 4, 1, true);
      return OK;
    },
    fd_prestat_dir_name: (fd: number, to: number, bytes: number) => {
      if (fd !== ROOT || bytes < 1) return BADF;
      view().setUint8(to, "/".charCodeAt(0));
      return OK;
    },
    fd_fdstat_get: (fd: number, to: number) => {
      const of = opened.get(fd);
      if (of === undefined && fd >= ROOT) return BADF;
      const kind = of === undefined ? CHARACTER_DEVICE : of.place.file ? REGULAR : DIRECTORY;
      view().setUint8(to, kind);
      view().setUint16(to + 2, 0, true);
      view().setBigUint64(to + 8, ALL_RIGHTS, true);
      view().setBigUint64(to + 16, ALL_RIGHTS, true);
      return OK;
    },
    fd_fdstat_set_flags: () => OK,
    fd_filestat_get: (fd: number, to: number) => {
      const of = opened.get(fd);
      return of === undefined ? BADF : putStatus(of.place, to);
    },
    path_filestat_get: (fd: number, _flags: number, path: number, bytes: number, to: number) => {
      const of = opened.get(fd);
      if (of === undefined) return BADF;
      const found = walk(of.place, textAt(path, bytes));
      return found === undefined ? NOENT : putStatus(found, to);
    },
    path_open: (
      folder: number,
      _lookup: number,
      path: number,
      bytes: number,
      flags: number,
      _rights: bigint,
      _inherited: bigint,
      _fdFlags: number,
      to: number,
    ) => {
      const of = opened.get(folder);
      if (of === undefined) return BADF;
      if ((flags & OPEN_WRITES) !== 0) return ROFS;
      const place = walk(of.place, textAt(path, bytes));
      if (place === undefined) return NOENT;
      if ((flags & OPEN_DIRECTORY) !== 0 && place.file !== undefined) return NOTDIR;
      let fd = ROOT + 1;
      while (opened.has(fd)) fd += 1;
      opened.set(fd, { place, offset: 0 });
      view().setUint32(to, fd, true);
      return OK;
    },
    fd_close: (fd: number) => (opened.delete(fd) ? OK : BADF),
    fd_pread: (fd: number, list: number, count: number, offset: bigint, to: number) => {
      const file = opened.get(fd)?.place.file;
      if (file === undefined) return BADF;
      view().setUint32(to, readInto(file, list, count, Number(offset)), true);
      return OK;
    },
    fd_read: (fd: number, list: number, count: number, to: number) => {
      const of = opened.get(fd);
      if (of?.place.file === undefined) return BADF;
      const done = readInto(of.place.file, list, count, of.offset);
      of.offset += done;
      view().setUint32(to, done, true);
      return OK;
    },
    fd_seek: (fd: number, offset: bigint, whence: number, to: number) => {
      const of = opened.get(fd);
      if (of?.place.file === undefined) return BADF;
      const base = [0, of.offset, of.place.file.size][whence];
      if (base === undefined || base + Number(offset) < 0) return INVAL;
      of.offset = base + Number(offset);
      view().setBigUint64(to, BigInt(of.offset), true);
      return OK;
    },
    fd_readdir: (fd: number, to: number, bytes: number, cookie: bigint, used: number) => {
      const of = opened.get(fd);
      if (of === undefined) return BADF;
      const entries = [...of.place.names].slice(Number(cookie));
      const out = new Uint8Array(memory(), to, bytes);
      let at = 0;
      for (const [i, [name, place]] of entries.entries()) {
        const text = new TextEncoder().encode(name);
        const entry = new Uint8Array(24 + text.length);
        const fields = new DataView(entry.buffer);
        fields.setBigUint64(0, cookie + BigInt(i + 1), true);
        fields.setBigUint64(8, BigInt(place.inode), true);
        fields.setUint32(16, text.length, true);
        fields.setUint8(20, place.file === undefined ? DIRECTORY : REGULAR);
        entry.set(text, 24);
        // A cut entry says that there is more.
        out.set(entry.subarray(0, bytes - at), at);
        at = Math.min(bytes, at + entry.length);
        if (at === bytes) break;
      }
      view().setUint32(used, at, true);
      return OK;
    },
    fd_write: (fd: number, list: number, count: number, to: number) => {
      let done = 0;
      for (let i = 0; i < count; i++) {
        const at = view().getUint32(list + 8 * i, true);
        const bytes = view().getUint32(list + 8 * i + 4, true);
        if (fd === 1 || fd === 2) log(textAt(at, bytes));
        done += bytes;
      }
      view().setUint32(to, done, true);
      return OK;
    },
    random_get: (to: number, bytes: number) => {
      new Uint8Array(memory(), to, bytes).fill(0);
      return OK;
    },
    sched_yield: () => OK,
    proc_exit: (status: number): number => {
      throw new Ended(`the engine ended with ${status}`);
    },
  };
  return new Proxy(system, {
    get: (known, name) => known[String(name)] ?? (() => NOSYS),
    has: () => true,
  }) as WebAssembly.ModuleImports;
}
