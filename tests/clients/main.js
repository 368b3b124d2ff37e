// SPDX-License-Identifier: Apache-2.0
// A Node.js program for the tests of `sukima run`.
'use strict';
const crypto = require('crypto');
const os = require('os');

let left = 8;
for (let i = 0; i < 8; i++) {
  crypto.pbkdf2('word', 'salt', 1000, 16, 'sha256', (error, key) => {
    if (error) throw error;
    if (--left > 0) return;
    console.log('threads', os.availableParallelism ? os.availableParallelism() : process.env.UV_THREADPOOL_SIZE);
    console.log('pool', process.env.UV_THREADPOOL_SIZE);
    console.log('result', key.toString('hex'));
  });
}
