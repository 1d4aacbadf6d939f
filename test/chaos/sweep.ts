import { findAuthority, SWEEP_MARGIN_SECONDS } from '@geoswap/solana-escrow'
import { address } from '@solana/kit'
import type { Hex } from 'viem'
import { delay } from '../bench/clock.ts'
import type { LocalSolanaChain } from '../world.ts'
import { accountOf } from '../x402-solana.ts'
import type { Plan } from './plan.ts'
import { sweepPoints } from './processes.ts'
import type { Stage } from './stage.ts'

// Days after the last swap: the service closes the markers of its deliveries on Solana, and their rent comes back.

const LOOK_MS = 250
// A worker that does not crash looks again after a minute.
const MOST_MS = 90_000
// The end of a worker below can come between a sweep and its crash.
const SPARE_GROUPS = 2

/**
 * The clock of Solana passes, a few markers at a time: a crash after a sweep was recorded needs one more sweep to be
 * seen again.
 */
export async function passSweep(stage: Stage, plan: Plan): Promise<void> {
  const deadlines = await findDeadlines(stage)
  const count = Math.min(deadlines.length, 2 * plan.crashes + SPARE_GROUPS)
  stage.processes.arm(sweepPoints)
  const isReached = () =>
    sweepPoints.every((point) => (stage.processes.crashes.get(point) ?? 0) >= plan.crashes)
  for (let group = 1; group <= count; group += 1) {
    if (isReached()) group = count
    const last = Math.floor((group * deadlines.length) / count) - 1
    await advanceTo(stage, (deadlines[last] ?? 0) + Number(SWEEP_MARGIN_SECONDS) + 2)
    // A new process looks at once.
    for (let worker = 0; worker < plan.workers; worker += 1)
      stage.processes.signal('worker', worker, 'SIGKILL')
    await untilLeft(stage, deadlines.length - last - 1)
  }
  for (const end = Date.now() + MOST_MS; Date.now() < end; await delay(LOOK_MS))
    if ((await countUntaken(stage)) === 0) break
  stage.processes.calm()
}

type Untaken = { hash: Hex; wallet: string; locker: string; deadline: string; amount: string }

/** The open accounts of payments that never came: once their refunds are public, the service closes them. */
async function countUntaken({ pool, solana, network }: Stage): Promise<number> {
  const { rows } = await pool.query<Untaken>(
    `select o.hash, o.wallet, o.locker, o.refund_deadline as deadline, o.input_amount as amount
       from ops o join swaps s on s.op_id = o.id
      where o.origin_chain = $1 and o.method = 'payment' and s.state = 'failed'`,
    [solana.chainId],
  )
  const chain = network.local.chains.find(({ chainId }) => chainId === solana.chainId) as LocalSolanaChain
  const [vault, attester] = [address(chain.vault), address(chain.attester)]
  const isOpen = async ({ hash: opId, wallet, locker, deadline, amount }: Untaken) => {
    const terms = {
      ...{ wallet: address(wallet), vault, attester, rentReceiver: address(locker), opId },
      ...{ refundDeadline: BigInt(deadline), amount: BigInt(amount) },
    }
    const [owner] = await findAuthority(address(chain.program), terms)
    const account = await accountOf(owner, solana.token('USDC'))
    const found = await solana.rpc.getAccountInfo(account, { encoding: 'base64' }).send()
    return found.value !== null
  }
  return (await Promise.all(rows.map(isOpen))).filter(Boolean).length
}

async function findDeadlines({ pool, solana }: Stage): Promise<number[]> {
  const { rows } = await pool.query<{ at: string }>(
    `select o.fill_deadline as at from ops o join swaps s on s.op_id = o.id
      where o.destination_chain = $1 and s.delivery_tx_hash is not null order by 1`,
    [solana.chainId],
  )
  return rows.map(({ at }) => Number(at))
}

/** Until a final block is past this time. */
async function advanceTo({ solana: { rpc, dev } }: Stage, seconds: number): Promise<void> {
  const timeAt = async (commitment: 'confirmed' | 'finalized') =>
    Number(await rpc.getBlockTime(await rpc.getSlot({ commitment }).send()).send())
  const ahead = seconds - (await timeAt('confirmed'))
  if (ahead > 0) await dev.dev_advanceClock(ahead).send()
  while ((await timeAt('finalized')) < seconds) await delay(LOOK_MS)
}

const IN_FLIGHT = `select 1 from tx_attempts where role = 'sweep' and final_at is null limit 1`

/** Until at most this many markers are left, and no sweep is in flight; the checker finds those that stay. */
async function untilLeft({ solana, network, pool }: Stage, most: number): Promise<void> {
  const program = network.local.chains.find(({ chainId }) => chainId === solana.chainId)?.program ?? ''
  for (const end = Date.now() + MOST_MS; Date.now() < end; await delay(LOOK_MS)) {
    const options = { commitment: 'finalized', encoding: 'base64' } as const
    const markers = await solana.rpc.getProgramAccounts(address(program), options).send()
    if (markers.length <= most && (await pool.query(IN_FLIGHT)).rowCount === 0) return
  }
}
