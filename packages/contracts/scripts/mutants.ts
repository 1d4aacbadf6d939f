import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { keccak256, toHex } from 'viem'
import { type Contracts, compileChanged } from './compile.ts'
import { type Mutant, mutate } from './mutate.ts'
import { runTests } from './run-tests.ts'

// `npm run mutants:contracts -- [--minutes=N] [part of a file's name]`: breaks one thing at a time, and expects a test
// to fail. Results are kept, so that the next call goes on where this one ended. Calls for different files may run at
// the same time. The accepted survivors change nothing that matters, for the reasons given there.
const acceptedFile = new URL('../accepted-mutants.txt', import.meta.url)
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
    'guardian',
    'reentrancy',
  ),
  'src/GeoVault.sol': tests('vault', 'guardian', 'rings', 'reentrancy'),
  'src/GeoAccount.sol': tests('wallet', 'delegation', 'escrow-lock', 'tokens'),
  'src/libraries/HourlyCapLib.sol': tests('vault', 'escrow-claim', 'escrow-refund-caps'),
  'src/libraries/SlotLib.sol': tests('escrow-lock', 'escrow-recover', 'rings'),
  'src/libraries/LaneLib.sol': tests('rings', 'vault'),
  'src/libraries/SignatureLib.sol': tests('wallet', 'escrow-attesters', 'escrow-credit'),
  'src/libraries/CappedCallLib.sol': tests(
    'escrow-credit',
    'escrow-refund',
    'vault',
    'tokens',
    'escrow-lock',
  ),
  'src/libraries/GeoOpLib.sol': tests('vectors', 'escrow-lock', 'vault-deliver'),
  'src/libraries/OpAddressLib.sol': tests('escrow-deposit', 'escrow-recover', 'vectors'),
  'src/UniswapV3Adapter.sol': tests('uniswap-v3'),
}

type Outcome = 'noticed' | 'survived' | 'does not compile'
const readResults = (): Record<string, Outcome> =>
  existsSync(resultsFile) ? JSON.parse(readFileSync(resultsFile, 'utf8')) : {}
const accepted = new Set(readFileSync(acceptedFile, 'utf8').split('\n'))
const [part = ''] = process.argv.slice(2).filter((argument) => !argument.startsWith('--'))
const minutes = Number(process.argv.find((argument) => argument.startsWith('--minutes='))?.slice(10) ?? 600)
const end = Date.now() + minutes * 60_000

const nameOf = ({ file, text, change }: Mutant) => `${file}: ${text}: ${change}`
const keyOf = ({ file, line, change, source }: Mutant) =>
  `${file}:${line} ${change} ${keccak256(toHex(source)).slice(2, 10)}`
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
  if (readResults()[keyOf(mutant)]) continue
  if (Date.now() > end) break
  const outcome = await judge(mutant)
  console.log(`${outcome}: ${nameOf(mutant)}`)
  mkdirSync(dirname(resultsFile), { recursive: true })
  writeFileSync(resultsFile, `${JSON.stringify({ ...readResults(), [keyOf(mutant)]: outcome }, null, 2)}\n`)
}

const results = readResults()
const outcomeOf = (mutant: Mutant) =>
  accepted.has(nameOf(mutant)) ? ('accepted' as const) : results[keyOf(mutant)]
const count = (outcome: ReturnType<typeof outcomeOf>) =>
  mutants.filter((mutant) => outcomeOf(mutant) === outcome).length
const survivors = mutants.filter((mutant) => outcomeOf(mutant) === 'survived')
console.log(
  `${mutants.length} mutants: ${count('noticed')} noticed, ${count('accepted')} accepted, ` +
    `${survivors.length} survived, ${count('does not compile')} do not compile, ${count(undefined)} not yet run`,
)
for (const mutant of survivors) console.log(`survived: ${nameOf(mutant)}`)
process.exitCode = survivors.length === 0 && count(undefined) === 0 ? 0 : 1
