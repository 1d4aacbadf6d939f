import { expect, test } from 'vitest'
import { insertTestAccount, useTestDatabase } from '../../test/support/database.ts'
import { openLimits } from '../../test/support/limits.ts'
import { stub } from '../../test/support/stub.ts'
import { insertTestOp } from '../../test/support/swaps.ts'
import { within } from '../async/timing.ts'
import { submit } from '../stages/submit/submit-evm.ts'
import type { SignedInput } from '../swap/swap.ts'
import type { Ungated } from './family.ts'
import { withGate } from './gate.ts'

const wallet = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'
const delegation = { chainId: 31_337, address: wallet, nonce: 0, yParity: 0, r: '0x', s: '0x' } as const

const database = useTestDatabase()

const connected = stub<Ungated>({
  config: { chainId: 31_337, name: 'alpha' },
  chain: {
    readDelegation: async () => expect.unreachable(),
    ways: { isInputSigned: async () => true },
  },
})

/** Builds an op for a wallet's first swap. */
async function builtOp(): Promise<string> {
  const { pool } = database
  const opId = await insertTestOp(pool, await insertTestAccount(pool), wallet)
  await pool.query('update ops set wallet_balance = input_amount where id = $1', [opId])
  await pool.query(
    `insert into inventory (chain_id, token, held, reserved, at_block) values (31338, 'output', 990, 0, 1)`,
  )
  return opId
}

test('a first swap is accepted while its chain is closed: the lane checks the chain before it locks', async () => {
  const opId = await builtOp()
  const closed = withGate(connected, () => true)
  closed.gate.isOpen = false
  const deps = {
    ...{ pool: database.pool, limits: openLimits, within, originOf: () => closed.chain },
    openOp: () => ({ opId, delegation }),
    paidNow: () => undefined,
  }
  const caller = { accountId: 'account', keyId: 'key', rules: {} }

  const reply = await submit(deps, caller, { geoOpToken: 'sealed', signature: `0x${'11'.repeat(64)}1b` })

  expect(reply.status).toBe('pending')
})

test('a signature that a node is asked about is not checked while its chain is closed', async () => {
  const { chain, gate } = withGate(connected, () => false)
  gate.isOpen = false

  expect(() => chain.ways?.isInputSigned({} as SignedInput, '0x')).toThrow('does not answer')
})
