import { generateKeyPairSigner } from '@solana/kit'
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startEvmWorld } from '../../test/conformance/evm-world.ts'
import { startSolanaConformanceWorld } from '../../test/conformance/solana-world.ts'
import type { ConformanceWorld } from '../../test/conformance/world.ts'
import { useTestDatabase } from '../../test/support/database.ts'
import { sumTopUpsOfDay } from '../store/gas.ts'
import { declareLanes, type Lease, releaseLanes, takeLanes } from '../store/lanes.ts'
import { topUpLowest } from './gas-watch.ts'
import { createSender } from './sender.ts'

const families = [
  {
    name: 'EVM',
    start: startEvmWorld,
    newAddress: async (): Promise<string> => privateKeyToAddress(generatePrivateKey()),
    limits: { low: 10n ** 17n, target: 10n ** 18n, maxPerDay: 15n * 10n ** 17n },
  },
  {
    name: 'Solana',
    start: startSolanaConformanceWorld as () => Promise<ConformanceWorld>,
    newAddress: async (): Promise<string> => (await generateKeyPairSigner()).address,
    limits: { low: 10n ** 7n, target: 10n ** 8n, maxPerDay: 15n * 10n ** 7n },
  },
]

const database = useTestDatabase()

describe.each(families)('a key on $name that runs low', ({ name, start, newAddress, limits }) => {
  let world: ConformanceWorld
  let keys: string[]
  let worker: Worker

  beforeAll(async () => {
    world = await start()
    keys = [await newAddress()]
    await declareLanes(database.pool, [`topup ${name}`])
    worker = await newWorker()
  })
  afterAll(() => world.stop())

  const balances = () => Promise.all(keys.map((key) => world.balanceOf(key, world.tokens.native)))
  const countSigned = async () => {
    const { rows } = await database.pool.query('select 1 from gas_topups where address = any($1)', [keys])
    return rows.length
  }

  type Worker = Awaited<ReturnType<typeof newWorker>>

  /** Takes the lane from its holder. A worker whose `broadcast` fails behaves like one killed before sending. */
  async function newWorker({ isCutOff = false, before }: { isCutOff?: boolean; before?: Lease } = {}) {
    const { pool } = database
    if (before) await releaseLanes(pool, [before])
    const wanted = { names: [`topup ${name}`], holder: crypto.randomUUID(), ttlMs: 600_000, limit: 1 }
    const [lease] = await takeLanes(pool, wanted)
    if (!lease) throw new Error('No lane')
    const broadcast = () => Promise.reject(new Error('Killed before the broadcast'))
    const chain = isCutOff ? { ...world.chain, broadcast } : world.chain
    const sender = createSender({
      pool,
      chain,
      address: world.senders.deliver,
      maxInFlight: 4,
      events: { onSent() {}, onSendFault() {}, onRefused() {}, onReplaced() {} },
      isClaimable: () => true,
    })
    const deps = {
      pool,
      chain,
      sender,
      limits,
      keys,
      nativeToken: world.tokens.native,
      balanceOf: () => undefined,
    }
    return {
      lease,
      async step() {
        const heads = await chain.readHeads()
        await sender.followUp(lease, heads)
        await topUpLowest(deps, lease, heads)
      },
    }
  }

  test('is topped up once, even if the worker is killed between recording and sending', async () => {
    const killed = await newWorker({ isCutOff: true, before: worker.lease })
    await killed.step()
    await world.confirm()
    expect({ balances: await balances(), signed: await countSigned() }).toEqual({
      balances: [0n],
      signed: 1,
    })

    worker = await newWorker({ before: killed.lease })
    for (let block = 0; block < 3; block += 1) {
      await worker.step()
      await world.confirm()
    }
    await world.finalize()
    for (let look = 0; look < 3; look += 1) await worker.step()

    expect({ balances: await balances(), signed: await countSigned() }).toEqual({
      balances: [limits.target],
      signed: 1,
    })
  })

  test('gets no more than the daily limit, with any number of workers', async () => {
    keys = [await newAddress(), await newAddress()]
    worker = await newWorker({ before: worker.lease })
    // One of them signs; where two would sign the same bytes, the second fails.
    await Promise.allSettled([worker.step(), worker.step(), worker.step()])
    await world.confirm()
    await world.finalize()
    const restarted = await newWorker({ before: worker.lease })
    for (let look = 0; look < 3; look += 1) await restarted.step()
    await world.confirm()
    worker = restarted

    const allowed = limits.maxPerDay - limits.target
    expect((await balances()).sort()).toEqual([0n, allowed].sort())
    expect(await sumTopUpsOfDay(database.pool, world.chain.chainId)).toBe(limits.maxPerDay)
  })

  test('gets nothing from a worker that lost the lane', async () => {
    keys = [await newAddress()]
    await database.pool.query("update gas_topups set created_at = created_at - interval '25 hours'")
    const late = await newWorker({ before: worker.lease })
    worker = await newWorker({ before: late.lease })

    await late.step()

    expect({ balances: await balances(), signed: await countSigned() }).toEqual({ balances: [0n], signed: 0 })
  })
})
