// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0
//
// What a Node.js service does in small: worker threads, child processes of three kinds, files (the thread pool), hashes,
// ciphers, compression, timers, streams, a local server, signals, garbage. Everything printed is determined by the code
// alone, so that two runs can be compared byte for byte. Called by tests/process/test_real_node.py: node_mixture.js FOLDER.

'use strict';

const assert = require('assert');
const childProcess = require('child_process');
const crypto = require('crypto');
const fs = require('fs');
const http = require('http');
const path = require('path');
const { promisify } = require('util');
const { Worker, isMainThread, parentPort, workerData } = require('worker_threads');
const zlib = require('zlib');

function fibonacci(n) {
  return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

function digest(data) {
  return crypto.createHash('sha256').update(data).digest('hex').slice(0, 16);
}

// Deterministic bytes that do not compress to nothing.
function bytes(length, seed) {
  const data = Buffer.alloc(length);
  let state = seed;
  for (let i = 0; i < length; i++) {
    state = (state * 1103515245 + 12345) & 0x7fffffff;
    data[i] = state >> 20;
  }
  return data;
}

function worker(number, shared) {
  return new Promise((resolve, reject) => {
    const thread = new Worker(__filename, { workerData: { number, shared } });
    let answer;
    thread.on('message', (message) => { answer = message; });
    thread.on('error', reject);
    thread.on('exit', (code) => resolve([answer, code]));
  });
}

async function workers() {
  const shared = new SharedArrayBuffer(4);
  const answers = await Promise.all([0, 1, 2, 3, 4, 5].map((n) => worker(n, shared)));
  for (const [answer, code] of answers) console.log('worker', answer, 'exit', code);
  console.log('shared counter', new Int32Array(shared)[0]);
  const idle = new Worker('setInterval(() => {}, 1000)', { eval: true });
  await new Promise((resolve) => idle.once('online', resolve));
  console.log('terminated', await idle.terminate());
}

async function children() {
  const execFile = promisify(childProcess.execFile);
  const echoed = await execFile('sh', ['-c', 'echo from the shell; echo words >&2']);
  console.log('execFile', JSON.stringify(echoed.stdout), JSON.stringify(echoed.stderr));
  const failed = childProcess.spawnSync(process.execPath, ['-e', 'process.exit(7)']);
  console.log('spawnSync', failed.status, failed.signal);
  const killed = childProcess.spawnSync(process.execPath, ['-e', 'process.kill(process.pid, "SIGTERM"); setTimeout(() => {}, 60000)']);
  console.log('killed', killed.status, killed.signal);
  const cat = childProcess.spawn('cat', [], { stdio: ['pipe', 'pipe', 'inherit'] });
  const parts = [];
  cat.stdout.on('data', (part) => parts.push(part));
  cat.stdin.end(bytes(300000, 7));
  const code = await new Promise((resolve) => cat.on('close', resolve));
  console.log('cat', code, digest(Buffer.concat(parts)));
  const forked = childProcess.fork(__filename, ['--forked'], { env: { ...process.env, FORKED: '1' } });
  const reply = await new Promise((resolve) => { forked.on('message', resolve); forked.send({ n: 18 }); });
  console.log('fork', reply, await new Promise((resolve) => forked.on('exit', resolve)));
}

async function files(folder) {
  const names = Array.from({ length: 40 }, (_, i) => path.join(folder, `file${i}`));
  await Promise.all(names.map((name, i) => fs.promises.writeFile(name, bytes(5000 + i, i))));
  const sums = await Promise.all(names.map(async (name) => digest(await fs.promises.readFile(name))));
  console.log('files', digest(sums.join()), (await fs.promises.readdir(folder)).length);
  const packed = fs.createWriteStream(path.join(folder, 'packed.gz'));
  fs.createReadStream(names[3]).pipe(zlib.createGzip()).pipe(packed);
  await new Promise((resolve) => packed.on('finish', resolve));
  console.log('gunzipped', digest(zlib.gunzipSync(fs.readFileSync(path.join(folder, 'packed.gz')))) === sums[3]);
  await Promise.all(names.map((name) => fs.promises.unlink(name)));
  await fs.promises.readFile(names[0]).catch((error) => console.log('missing', error.code));
}

async function secrets() {
  const key = await promisify(crypto.pbkdf2)('password', 'salt', 20000, 32, 'sha512');
  const keys = await Promise.all([1, 2, 3, 4].map((n) => promisify(crypto.scrypt)(`p${n}`, 'salt', 24)));
  const cipher = crypto.createCipheriv('aes-256-gcm', key, Buffer.alloc(12, 1));
  const sealed = Buffer.concat([cipher.update(bytes(100000, 3)), cipher.final()]);
  console.log('crypto', key.toString('hex').slice(0, 16), digest(Buffer.concat(keys)), digest(sealed), cipher.getAuthTag().toString('hex'));
  const pair = await promisify(crypto.generateKeyPair)('rsa', { modulusLength: 1024 });
  const signed = crypto.sign('sha256', Buffer.from('text'), pair.privateKey);
  console.log('rsa', crypto.verify('sha256', Buffer.from('text'), pair.publicKey, signed));
}

async function timers() {
  const order = [];
  const later = (ms, name) => new Promise((resolve) => setTimeout(() => { order.push(name); resolve(); }, ms));
  setImmediate(() => order.push('immediate'));
  process.nextTick(() => order.push('tick'));
  Promise.resolve().then(() => order.push('microtask'));
  await Promise.all([later(300, 'c'), later(20, 'a'), later(150, 'b')]);
  console.log('timers', order.filter((name) => name !== 'immediate').join(' '), order.includes('immediate'));
}

async function server() {
  const listener = http.createServer((request, response) => {
    let length = 0;
    request.on('data', (part) => { length += part.length; });
    request.on('end', () => response.end(`${request.method} ${request.url} ${length}`));
  });
  await new Promise((resolve) => listener.listen(0, '127.0.0.1', resolve));
  const ask = (n) => new Promise((resolve, reject) => {
    const request = http.request({ port: listener.address().port, host: '127.0.0.1', method: 'POST', path: `/${n}` }, (answer) => {
      answer.setEncoding('utf8');
      let text = '';
      answer.on('data', (part) => { text += part; });
      answer.on('end', () => resolve(text));
    });
    request.on('error', reject);
    request.end(bytes(n * 1000, n));
  });
  const answers = await Promise.all(Array.from({ length: 30 }, (_, n) => ask(n)));
  console.log('http', answers[29], digest(answers.join()));
  await new Promise((resolve) => listener.close(resolve));
}

async function signals() {
  const alive = setInterval(() => {}, 1000);  // a wait for a signal alone does not keep the loop running
  const seen = [];
  for (const name of ['SIGUSR2', 'SIGHUP', 'SIGWINCH']) {
    const arrived = new Promise((resolve) => process.once(name, resolve));
    process.kill(process.pid, name);
    seen.push(await arrived);
  }
  clearInterval(alive);
  console.log('signals', seen.join(' '));
}

function garbage() {
  let kept = new Map();
  for (let i = 0; i < 300000; i++) {
    kept.set(`key${i % 5000}`, { i, text: `value ${i}`, buffer: i % 100 ? null : Buffer.alloc(20000, i) });
  }
  console.log('garbage', kept.size, kept.get('key4999').text);
}

async function main() {
  const folder = process.argv[2];
  assert(folder, 'usage: node_mixture.js FOLDER');
  await workers();
  await children();
  await files(folder);
  await secrets();
  await timers();
  await server();
  await signals();
  garbage();
  console.error('words on stderr');
  process.on('exit', (code) => console.log('exit handler', code));
  process.exitCode = 11;
}

if (!isMainThread) {
  Atomics.add(new Int32Array(workerData.shared), 0, 1000 + workerData.number);
  parentPort.postMessage(`${workerData.number}: ${fibonacci(22 + workerData.number)} ${digest(bytes(50000, workerData.number))}`);
  process.exitCode = workerData.number;
} else if (process.argv[2] === '--forked') {
  process.on('message', (message) => process.send({ answer: fibonacci(message.n) }, () => process.exit(5)));
} else {
  main();
}
