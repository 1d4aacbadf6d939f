import { type Signature, signature } from '@solana/kit'
import type { Hex } from 'viem'
import { isHealthy } from './checks.ts'
import { service } from './commands.ts'
import { haveBooks } from './database-restore.ts'
import { type End, moneyOf } from './journeys.ts'
import { npmRun } from './npm-run.ts'
import { ROLES } from './processes.ts'
import type { Scene } from './scene.ts'
import { type Chain, type Swapped, startTraffic } from './traffic.ts'

// Of each batch, and of the log that no archive has.
const ENOUGH = 6
const PATIENT_MS = 300_000
const AFTER_EVERY_DEADLINE = 600

/** The machine of the database is lost while swaps run, with the log of its last seconds. */
export async function pointInTime(scene: Scene): Promise<void> {
  const { archive, processes } = scene
  if (!archive) throw new Error('Without an archive')
  scene.sees(await archive.versions())
  await scene.until('the books of all chains are open', () => haveBooks(scene))
  const before = await readVaults(scene)
  const traffic = startTraffic(scene)
  await scene.until(`${ENOUGH} swaps are under way`, async () => traffic.made.length >= ENOUGH, PATIENT_MS)
  await archive.backUp('full')
  scene.does('pgbackrest --stanza=geoswap --type=full backup, while swaps run')
  const atBackup = await readArchived(scene)
  const isArchived = async () => (await readArchived(scene)) > atBackup && traffic.made.length > 2 * ENOUGH
  await scene.until('swaps since the backup are in the archive', isArchived, PATIENT_MS)
  await scene.until(
    'later ones are not yet',
    async () => (await countUnarchived(scene)) >= ENOUGH,
    PATIENT_MS,
  )
  traffic.end()
  await Promise.all(ROLES.map((role) => processes.stop(role, 'SIGKILL')))
  const signed = await readAttempts(scene)
  await archive.lose()
  await traffic.over
  scene.happens(`the database's machine is lost with its disk, after ${traffic.made.length} swaps`)

  const restoreMs = await timed(() => archive.restore())
  scene.does('pgbackrest --stanza=geoswap restore, and the server is started')
  const lost = await findLost(scene, signed)
  scene.sees(`the worker refuses to start: ${await processes.refusalOf('worker')}`)
  const { rebuildMs, waitMs } = await rebuild(scene)
  const readyMs = await timed(() => startAll(scene))
  scene.does('attester, worker and API are started')

  await isSound(scene, traffic.made, before)
  await isHealthy(scene)
  const stops = await service(scene, 'stops', '--json')
  scene.expects('no drift: nothing is stopped', stops === '[]', stops)
  const [restored, rebuilt, waited, ready] = [restoreMs, rebuildMs, waitMs, readyMs].map(inSeconds)
  scene.sees(`restore ${restored} s, rebuild ${rebuilt} s (${waited} s for signatures to expire), ready ${ready} s
${lost.landed} transactions were on a chain and not in the restored log, of ${lost.all} that it lacked`)
}

async function readArchived({ query }: Scene): Promise<number> {
  const [row] = await query<{ count: number }>('select archived_count::int as count from pg_stat_archiver')
  return row?.count ?? 0
}

async function countUnarchived({ query }: Scene): Promise<number> {
  const [row] = await query<{ count: number }>(
    `select count(*)::int as count from tx_attempts, pg_stat_archiver where created_at > last_archived_time`,
  )
  return row?.count ?? 0
}

type Attempt = { tx_hash: string; chain_id: string }

const readAttempts = ({ query }: Scene) => query<Attempt>('select tx_hash, chain_id from tx_attempts')

/** The transactions that the restored log lacks, and those of them that a chain knows. */
async function findLost(scene: Scene, signed: readonly Attempt[]): Promise<{ all: number; landed: number }> {
  const kept = new Set((await readAttempts(scene)).map(({ tx_hash }) => tx_hash))
  const missing = signed.filter(({ tx_hash }) => !kept.has(tx_hash))
  const landed = await Promise.all(missing.map((attempt) => isLanded(scene, attempt)))
  const found = { all: missing.length, landed: landed.filter(Boolean).length }
  scene.expects('the restored log lacks transactions that a chain knows', found.landed > 0, 'it has all')
  return found
}

async function isLanded({ world, solana }: Scene, { tx_hash, chain_id }: Attempt): Promise<boolean> {
  const chain = world.chains.find(({ chainId }) => chainId === Number(chain_id))
  if (chain) {
    const { client } = chain
    return client.getTransactionReceipt({ hash: tx_hash as Hex }).then(
      () => true,
      () => false,
    )
  }
  const asked: Signature = signature(tx_hash)
  const { value } = await solana.rpc.getSignatureStatuses([asked], { searchTransactionHistory: true }).send()
  return value[0] !== null
}

async function rebuild(scene: Scene): Promise<{ rebuildMs: number; waitMs: number }> {
  const begun = performance.now()
  let readsAt: number | undefined
  const onText = (text: string) => {
    if (text.includes('reading from block')) readsAt ??= performance.now()
  }
  const { code, text } = await npmRun(scene.network, { script: 'service', args: ['rebuild'], onText })
  scene.does(`npm run -s service -- rebuild\n${text}`)
  scene.expects('the command ended with 0', code === 0, `with ${code}`)
  return { rebuildMs: performance.now() - begun, waitMs: (readsAt ?? begun) - begun }
}

async function startAll({ processes, until }: Scene): Promise<void> {
  await Promise.all(ROLES.map((role) => processes.start(role)))
  await until('/ready is 200', async () => (await fetch(`${processes.urlOf('api')}/ready`)).status === 200)
}

/** From the chains alone: every wallet has its whole output or its whole input, and the vaults what that leaves. */
export async function isSound(
  scene: Scene,
  made: readonly Swapped[],
  before: ReadonlyMap<Chain, bigint>,
): Promise<void> {
  const { world, solana } = scene
  await scene.until('every swap with a known outcome is over', () => areOver(scene, WITH_OUTCOME), PATIENT_MS)
  for (const chain of world.chains) await chain.advance(AFTER_EVERY_DEADLINE)
  await solana.dev.dev_advanceClock(AFTER_EVERY_DEADLINE).send()
  scene.happens(`the clocks of the chains go ${AFTER_EVERY_DEADLINE} s ahead: every deadline passes`)
  await scene.until('every swap is over', () => areOver(scene, 'true'), PATIENT_MS)
  const due = new Map(before)
  const add = (chain: Chain, amount: bigint) => void due.set(chain, (due.get(chain) ?? 0n) + amount)
  let settled = 0
  for (const { journey, from, to } of made) {
    const is = await journey.read()
    const ends: End[] = ['settled', 'refunded']
    const end = ends.find((each) => {
      const { paid, left } = moneyOf(journey, each)
      return is.paid === paid && is.left === left
    })
    if (!end) scene.expects(`${journey.opHash} is whole`, false, `recipient ${is.paid}, wallet ${is.left}`)
    if (end !== 'settled') continue
    settled += 1
    add(from, moneyOf(journey, 'refunded').left)
    add(to, -journey.output)
  }
  const back = made.length - settled
  scene.expects(
    `of ${made.length} swaps ${settled} were paid once, ${back} kept or got back their input`,
    settled > 0,
  )
  const now = await readVaults(scene)
  for (const [chain, amount] of due)
    scene.expects(
      `the vault of ${chain} has ${amount}, exactly`,
      now.get(chain) === amount,
      `${now.get(chain)}`,
    )
}

const WITH_OUTCOME = 's.delivery_tx_hash is not null or not s.log_lost'

async function areOver({ query }: Scene, which: string): Promise<boolean> {
  const open = await query(
    `select 1 from swaps s where s.state not in ('closed', 'refunded', 'failed') and (${which}) limit 1`,
  )
  return open.length === 0
}

export async function readVaults({ world, solana }: Scene): Promise<Map<Chain, bigint>> {
  const { alpha, beta } = world
  return new Map<Chain, bigint>([
    ['alpha', await alpha.balanceOf(alpha.contracts.vault, 'USDC')],
    ['beta', await beta.balanceOf(beta.contracts.vault, 'USDC')],
    ['solana', await solana.balanceOf(solana.vault, solana.token('USDC'))],
  ])
}

async function timed(act: () => Promise<void>): Promise<number> {
  const begun = performance.now()
  await act()
  return performance.now() - begun
}

const inSeconds = (ms: number) => (ms / 1_000).toFixed(1)
