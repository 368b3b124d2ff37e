// SPDX-License-Identifier: Apache-2.0
// Builds the addon beside this file. It is one C file with the stable interface Node-API, so a compiler and the headers
// of the running node are enough; node-gyp would fetch headers.
'use strict';
const { spawnSync } = require('child_process');
const fs = require('fs');
const path = require('path');

function run(program, args) {
  const done = spawnSync(program, args, { encoding: 'utf8' });
  if (done.error) throw new Error(`${program} cannot be started: ${done.error.message}`);
  if (done.status !== 0) throw new Error(`${program} ${args.join(' ')} failed: ${done.stderr}`);
  return done.stdout.trim();
}

function headers() {
  const beside = path.resolve(fs.realpathSync(process.execPath), '..', '..', 'include', 'node');
  const folders = [process.env.NODE_HEADERS, beside, '/usr/include/node'].filter(Boolean);
  const found = folders.find((folder) => fs.existsSync(path.join(folder, 'node_api.h')));
  if (!found) throw new Error(`no node_api.h in ${folders.join(', ')}; install libnode-dev, or set NODE_HEADERS`);
  return found;
}

try {
  try {
    run('pkg-config', ['--exists', '--print-errors', 'sukima-capacity']);
  } catch (error) {
    throw new Error(`${error.message}; install libsukima-dev, or set PKG_CONFIG_PATH to its lib/pkgconfig`);
  }
  const flags = run('pkg-config', ['--cflags', '--libs', 'sukima-capacity']).split(/\s+/);
  // CC may be a command with arguments, such as `ccache gcc`.
  const [compiler, ...words] = (process.env.CC || 'cc').trim().split(/\s+/);
  run(compiler || 'cc', [...words, '-std=c11', '-O2', '-fPIC', '-fvisibility=hidden', '-shared', `-I${headers()}`,
    '-o', path.join(__dirname, 'capacity.node'), path.join(__dirname, 'capacity.c'),
    '-Wl,--as-needed', '-Wl,--exclude-libs,ALL', '-l:libsukima-capacity.a', ...flags]);
} catch (error) {
  console.error(`sukima-capacity: ${error.message}`);
  process.exit(1);
}
