// SPDX-License-Identifier: Apache-2.0
// A Node.js program for the tests of `sukima run`. With words it does work, for lab/scripts/run-table.py:
//   main.js pool JOBS       in libuv's pool of threads
//   main.js workers PIECES  in as many workers as Node counts CPUs
'use strict';
const crypto = require('crypto');
const os = require('os');
const { Worker, isMainThread, workerData } = require('worker_threads');

// A millisecond of work.
function piece(seed) {
  let x = seed * 2 + 1;
  for (let i = 0; i < 400000; i++) {
    x ^= x << 13;
    x ^= x >>> 17;
    x ^= x << 5;
  }
  return x;
}

function hash(jobs, rounds, done) {
  let left = jobs;
  for (let i = 0; i < jobs; i++) {
    crypto.pbkdf2('word', 'salt', rounds, 16, 'sha256', (error, key) => {
      if (error) throw error;
      if (--left === 0) done(key);
    });
  }
}

function startWorkers(pieces) {
  const count = os.availableParallelism ? os.availableParallelism() : os.cpus().length;
  const taken = new Int32Array(new SharedArrayBuffer(4));
  for (let i = 0; i < count; i++) new Worker(__filename, { workerData: { taken, pieces } });
}

if (!isMainThread) {
  for (let i; (i = Atomics.add(workerData.taken, 0, 1)) < workerData.pieces; ) piece(i);
} else if (process.argv[2] === 'pool') {
  hash(Number(process.argv[3]), 20000, (key) => console.log('result', key.toString('hex')));
} else if (process.argv[2] === 'workers') {
  startWorkers(Number(process.argv[3]));
} else {
  hash(8, 1000, (key) => {
    console.log('threads', os.availableParallelism ? os.availableParallelism() : process.env.UV_THREADPOOL_SIZE);
    console.log('pool', process.env.UV_THREADPOOL_SIZE);
    console.log('result', key.toString('hex'));
  });
}
