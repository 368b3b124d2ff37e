// A user's program: the number with its reason.
'use strict';
const capacity = require('sukima-capacity');

async function main() {
  console.log(`usable ${capacity.usableCpus()}\nthreads ${capacity.threads()}`);
  console.log(`free ${await capacity.freeCpus(0.25)}\nreason ${capacity.reason()}`);
}

main().catch((error) => {
  console.error(error.message);
  process.exit(2);
});
