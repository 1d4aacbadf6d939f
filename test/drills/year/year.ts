import { isHealthy } from '../checks.ts'
import { Failed } from '../report.ts'
import type { Scene } from '../scene.ts'
import { addSolana, addTokensAndChain } from './adding.ts'
import { manageKeys, screen, swapAsCustomer } from './customers.ts'
import { losePrimary, preparesAnother, restore, runAsOne, upgrade } from './database.ts'
import { EXCUSED, findMissing } from './documented.ts'
import { endTraffic, judgeBooks, judgeChains, readVaults } from './ledger.ts'
import { goThroughDepeg, goThroughGasSpike, loseAnInput, payFees, rebalanceByHand } from './money.ts'
import { beginMonth, type Month, service } from './month.ts'
import { rotateApiKeys, rotateAttesters, rotateSenders } from './rotating.ts'
import { rotateSolana } from './solana-keys.ts'

type Step = { day: number; what: string; run(month: Month): Promise<void> }

/** A month of an operator. Swaps run from the first day to the last. */
const STEPS: readonly Step[] = [
  { day: 1, what: 'looks at everything, and backs up', run: lookAround },
  { day: 2, what: 'prepares the files of a second service', run: preparesAnother },
  { day: 3, what: 'adds Solana', run: addSolana },
  { day: 5, what: 'adds a token to alpha and to Solana, and the chain gamma', run: addTokensAndChain },
  {
    day: 7,
    what: 'gives API keys, limits and revokes them; freezes a wallet; sends events',
    run: manageKeys,
  },
  { day: 8, what: 'swaps as a customer', run: swapAsCustomer },
  { day: 9, what: 'screens addresses by a signed list, and overrides it', run: screen },
  { day: 11, what: 'replaces relayers, a deliverer, the gas float and the guardian', run: rotateSenders },
  { day: 13, what: 'replaces seal keys and operator keys', run: rotateApiKeys },
  { day: 14, what: 'goes through a gas spike', run: goThroughGasSpike },
  { day: 15, what: 'goes through a depeg', run: goThroughDepeg },
  { day: 16, what: 'rebalances by hand', run: rebalanceByHand },
  { day: 17, what: 'pays out the fees of an account', run: payFees },
  { day: 18, what: 'replaces process after process, and restores a dump beside', run: upgrade },
  { day: 19, what: 'replaces vault, attester and fee payers of Solana', run: rotateSolana },
  { day: 20, what: 'loses the primary database', run: losePrimary },
  { day: 21, what: 'replaces the attesters', run: rotateAttesters },
  { day: 29, what: 'loses an input, and writes it off', run: loseAnInput },
  { day: 30, what: 'runs all processes as one', run: runAsOne },
  { day: 31, what: 'loses the database, and restores it from its archive', run: restore },
]

export async function year(scene: Scene): Promise<void> {
  const month = await beginMonth(scene)
  const times: { what: string; seconds: number }[] = []
  try {
    const before = await readVaults(month)
    for (const { day, what, run } of STEPS) {
      const begun = performance.now()
      month.happens(`day ${day}: ${what}`)
      await run(month)
      times.push({ what: `day ${day}: ${what}`, seconds: (performance.now() - begun) / 1_000 })
    }
    const begun = performance.now()
    month.happens('the month is over: chains and books are compared')
    await endTraffic(month)
    await judgeChains(month, before)
    await judgeBooks(month)
    await isHealthy(month, month.lost)
    times.push({ what: 'the end', seconds: (performance.now() - begun) / 1_000 })
  } finally {
    for (const { what, seconds } of times) scene.sees(`${seconds.toFixed(0).padStart(4)} s  ${what}`)
    scene.sees(`${month.typed.length} commands, ${month.traffic.made.length} swaps of the traffic`)
    await month.stop()
  }
  for (const [item, why] of Object.entries(EXCUSED)) scene.sees(`not run: ${item}: ${why}`)
  const missing = findMissing(month.typed)
  if (missing.length > 0) throw new Failed(`no step ran ${missing.join(', ')}`)
  scene.expects('every documented command ran', true)
}

async function lookAround(month: Month): Promise<void> {
  const { archive, network } = month
  if (!archive) throw new Error('Without an archive')
  await month.until('the books of all chains are open', async () => {
    const open = await month.query('select 1 from ledger_cursors')
    return open.length === month.readConfig().chains.length
  })
  month.typed.push('pgbackrest --stanza=geoswap stanza-create')
  await archive.backUp('full')
  month.does('pgbackrest --stanza=geoswap --type=full backup, while swaps run')
  const file = `${network.home}/service.json`
  await service(month, `check-config ${file}`)
  await service(month, `check-config ${file} --online`)
  await service(month, 'doctor')
  await service(month, 'keys status')
  await service(month, 'deploy --verify-only')
  await service(month, 'deploy --dry-run')
  await service(month, 'fund plan')
  await service(month, 'inventory status')
  await service(month, 'books')
  await month.type('npm run -s contracts:verify')
}
