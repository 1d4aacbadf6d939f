import { randomBytes } from 'node:crypto'
import { bytesToHex, type Hex, isHex } from 'viem'
import { runFuzz } from '../test/run-fuzz.ts'

// `npm run fuzz:contracts [runs] [seed]`: sequences of 500 random calls, with another seed each time.
const [runs = '5000', given] = process.argv.slice(2)
const seed: Hex = given && isHex(given) ? given : bytesToHex(randomBytes(8))
console.log(`${runs} sequences of 500 calls, seed ${seed}`)
const { untrue, failure, calls } = await runFuzz({ runs: Number(runs), depth: 500, seed })
for (const sentence of untrue) console.error(`not true: ${sentence}`)
if (failure) console.error(failure)
console.log(`${calls} calls`)
process.exit(untrue.length > 0 || failure ? 1 : 0)
