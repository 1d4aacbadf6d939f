import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { keccak256, toHex } from 'viem'
import { type Contracts, compileChanged } from './compile.ts'
import { type Mutant, mutate } from './mutate.ts'
import { runTests } from './run-tests.ts'

// `npm run mutants:contracts -- [--minutes=N] [part of a file's name]`: breaks one thing at a time, and expects a test
// to fail. Results are kept, so that the next call goes on where this one ended.
const resultsFile = fileURLToPath(new URL('../../../.tmp/mutants-contracts.json', import.meta.url))
const root = new URL('../', import.meta.url)
const tests = (...names: string[]) => names.map((name) => `packages/contracts/test/${name}`)
/** The tests that are most likely to notice come first; the whole suite follows if they do not. */
const sources: Readonly<Record<string, readonly string[]>> = {
  'src/escrow/EscrowAttesters.sol': tests('escrow-attesters', 'escrow-refund-caps'),
  'src/escrow/EscrowOpAddress.sol': tests('escrow-deposit', 'escrow-recover', 'escrow-permit', 'dirty-bits'),
  'src/escrow/EscrowLocks.sol': tests('escrow-lock', 'escrow-authorization', 'tokens', 'escrow-attesters'),
  'src/escrow/EscrowBase.sol': tests('escrow-credit', 'escrow-roles', 'escrow-refund', 'reentrancy', 'rings'),
  'src/GeoEscrow.sol': tests(
    'escrow-claim',
    'escrow-refund',
    'escrow-credit',
    'escrow-attesters',
    'reentrancy',
  ),
  'src/GeoVault.sol': tests('vault', 'rings', 'reentrancy'),
  'src/GeoAccount.sol': tests('wallet', 'delegation', 'escrow-lock', 'tokens'),
  'src/libraries/HourlyCapLib.sol': tests('vault', 'escrow-claim', 'escrow-refund-caps'),
  'src/libraries/SlotLib.sol': tests('escrow-lock', 'escrow-recover', 'rings'),
  'src/libraries/LaneLib.sol': tests('rings', 'vault'),
  'src/libraries/SignatureLib.sol': tests('wallet', 'escrow-attesters', 'escrow-credit'),
}

type Outcome = 'noticed' | 'survived' | 'does not compile'
const results: Record<string, Outcome> = existsSync(resultsFile)
  ? JSON.parse(readFileSync(resultsFile, 'utf8'))
  : {}
const [part = ''] = process.argv.slice(2).filter((argument) => !argument.startsWith('--'))
const minutes = Number(process.argv.find((argument) => argument.startsWith('--minutes='))?.slice(10) ?? 600)
const end = Date.now() + minutes * 60_000

const nameOf = ({ file, line, change }: Mutant) => `${file}:${line} ${change}`
const keyOf = (mutant: Mutant) => `${nameOf(mutant)} ${keccak256(toHex(mutant.source)).slice(2, 10)}`
const mutants = Object.keys(sources)
  .filter((file) => file.includes(part))
  .flatMap((file) => mutate(file, readFileSync(new URL(file, root), 'utf8')))

function compile({ file, source }: Mutant): Contracts | undefined {
  try {
    return compileChanged({ [file]: source })
  } catch {
    return undefined
  }
}

async function judge(mutant: Mutant): Promise<Outcome> {
  const contracts = compile(mutant)
  if (!contracts) return 'does not compile'
  for (const files of [sources[mutant.file] ?? [], tests('')]) {
    if (!(await runTests(contracts, files, { isFirstEnough: true })).isGreen) return 'noticed'
  }
  return 'survived'
}

for (const mutant of mutants) {
  if (results[keyOf(mutant)]) continue
  if (Date.now() > end) break
  const outcome = await judge(mutant)
  results[keyOf(mutant)] = outcome
  console.log(`${outcome}: ${nameOf(mutant)}`)
  mkdirSync(new URL('.', `file://${resultsFile}`), { recursive: true })
  writeFileSync(resultsFile, `${JSON.stringify(results, null, 2)}\n`)
}

const outcomes = mutants.map((mutant) => results[keyOf(mutant)])
const count = (outcome: Outcome) => outcomes.filter((each) => each === outcome).length
const survivors = mutants.filter((mutant) => results[keyOf(mutant)] === 'survived')
console.log(`${mutants.length} mutants: ${count('noticed')} noticed, ${count('survived')} survived,`)
console.log(
  `${count('does not compile')} do not compile, ${outcomes.filter((each) => !each).length} not yet run`,
)
for (const mutant of survivors) console.log(`survived: ${nameOf(mutant)}`)
