import { geoEscrowAbi, geoVaultAbi } from '@geoswap/protocol'
import { type Address, decodeFunctionData, erc20Abi, zeroAddress } from 'viem'
import { expect, test } from 'vitest'
import { toSafeBatch } from './apply.ts'
import { guardianPart, planTreasury, type TreasuryState, type Wanted } from './plan.ts'

const at = (digit: string): Address => `0x${digit.repeat(40)}`
const [vault, escrow, usdc, deliverer, adapter, attester, other] = ['1', '2', '3', '4', '5', '6', '7'].map(
  (digit) => at(digit),
) as [Address, Address, Address, Address, Address, Address, Address]
const USDC = {
  ...{ address: usdc, symbol: 'USDC', decimals: 6, isPlain: true },
  ...{ cap: 25_000_000_000n, claimCap: 100_000_000_000n, refundCap: 5_000_000_000n },
}
const OPEN = { cap: USDC.cap, claimCap: USDC.claimCap, refundCap: USDC.refundCap, isPlain: true }
const CLOSED = { cap: 0n, claimCap: 0n, refundCap: 0n, isPlain: false }
const oneOf = (member: Address) => ({ members: [member], threshold: 1 })
const DAY = 86_400n
const ETH = 10n ** 18n

const wanted: Wanted = {
  contracts: { vault, escrow },
  deliverers: [deliverer],
  adapters: [adapter],
  revoked: [],
  attesters: oneOf(attester),
  tokens: [USDC],
}
const fresh: TreasuryState = {
  time: 100n * DAY,
  attesters: { ...oneOf(attester), since: 0 },
  pending: undefined,
  refundsStopped: false,
  guardian: zeroAddress,
  deliverers: new Set(),
  adapters: new Set(),
  tokens: new Map([[usdc, { ...CLOSED, held: 0n, owned: 0n, credit: 0n }]]),
}
const done: TreasuryState = {
  ...fresh,
  deliverers: new Set([deliverer]),
  adapters: new Set([adapter]),
  tokens: new Map([[usdc, { ...OPEN, held: 0n, owned: 0n, credit: 0n }]]),
}

const abi = [...geoVaultAbi, ...geoEscrowAbi, ...erc20Abi]
function callsOf(want: Wanted, state: TreasuryState) {
  return planTreasury(want, state).calls.map(({ to, value, data }) =>
    data === '0x' ? [to, value] : [to, ...Object.values(decodeFunctionData({ abi, data }))],
  )
}

test('after a deployment the treasury lets deliverers and adapters pay, and opens claims before payments', () => {
  expect(callsOf(wanted, fresh)).toEqual([
    [vault, 'setDeliverer', [deliverer, true]],
    [vault, 'setAdapter', [adapter, true]],
    [escrow, 'setClaimCap', [usdc, USDC.claimCap]],
    [escrow, 'setRefundCap', [usdc, USDC.refundCap]],
    [vault, 'setPlainToken', [usdc, true]],
    [vault, 'setCap', [usdc, USDC.cap]],
  ])
})

test('when the contracts are as configured there is nothing to call', () => {
  expect(planTreasury(wanted, done)).toEqual({ calls: [], notes: [], lacks: [], refused: [] })
})

test('a cap that is not configured stays as it is, and is named while it is closed', () => {
  const { cap: _, claimCap: __, refundCap: ___, isPlain: ____, ...unset } = USDC
  const open = new Map([[usdc, { ...OPEN, cap: 1n, claimCap: 1n, held: 0n, owned: 0n, credit: 0n }]])
  const closed = 'USDC is closed: its capPerHour and claimCapPerHour are not configured'

  expect(planTreasury({ ...wanted, tokens: [unset] }, { ...done, tokens: open })).toMatchObject({
    calls: [],
    notes: [],
  })
  const plan = planTreasury({ ...wanted, tokens: [unset] }, { ...done, tokens: fresh.tokens })
  expect(plan).toMatchObject({ calls: [], notes: [closed] })
})

test('a changed cap is set, also to 0', () => {
  expect(callsOf({ ...wanted, tokens: [{ ...USDC, cap: 0n }] }, done)).toEqual([
    [vault, 'setCap', [usdc, 0n]],
  ])
})

test('rights of a revoked deliverer or adapter end, once', () => {
  const revoking = { ...wanted, revoked: [other] }
  const both = {
    ...done,
    deliverers: new Set([deliverer, other]),
    adapters: new Set([adapter, other]),
  }

  expect(callsOf(revoking, both)).toEqual([
    [vault, 'setDeliverer', [other, false]],
    [vault, 'setAdapter', [other, false]],
  ])
  expect(callsOf(revoking, done)).toEqual([])
})

test('new attesters are proposed by number, wait for their notice, and are accepted', () => {
  const set = { members: [other, attester], threshold: 2 }
  const next = { ...wanted, attesters: set }
  const proposed = { ...done, pending: { ...set, readyAt: Number(108n * DAY) } }
  const named = `2 of ${attester}, ${other}`

  expect(callsOf(next, done)).toEqual([[escrow, 'proposeAttesters', [[attester, other], 2n]]])
  expect(planTreasury(next, proposed)).toMatchObject({
    calls: [],
    notes: [
      `the attesters ${named} are proposed, and can be accepted for two days from 1970-04-19T00:00:00.000Z`,
    ],
  })
  expect(callsOf(next, { ...proposed, time: 108n * DAY })).toEqual([[escrow, 'acceptAttesters', undefined]])
  expect(planTreasury(next, { ...done, attesters: { ...set, since: Number(115n * DAY) } })).toMatchObject({
    calls: [],
    notes: [`the attesters ${named} decide swaps whose refund deadline is 1970-04-26T00:00:00.000Z or later`],
  })
  expect(planTreasury(next, { ...done, attesters: { ...set, since: 0 } })).toEqual({
    calls: [],
    notes: [],
    lacks: [],
    refused: [],
  })
})

test('pending attesters that the configuration does not name are reported, not withdrawn', () => {
  const plan = planTreasury(wanted, { ...done, pending: { ...oneOf(other), readyAt: Number(108n * DAY) } })

  expect(plan.calls).toEqual([])
  expect(plan.notes).toEqual([expect.stringContaining(`the escrow has pending attesters, 1 of ${other}`)])
})

test('attested refunds are stopped and allowed as configured, and a stop of the treasury stays until then', () => {
  const stopped = { ...done, refundsStopped: true }

  expect(callsOf({ ...wanted, refundsStopped: true }, done)).toEqual([
    [escrow, 'setAttestedRefundsStopped', [true]],
  ])
  expect(callsOf({ ...wanted, refundsStopped: false }, stopped)).toEqual([
    [escrow, 'setAttestedRefundsStopped', [false]],
  ])
  expect(planTreasury(wanted, stopped)).toMatchObject({
    calls: [],
    notes: ['attested refunds are stopped: set attestedRefundsStopped to false to go on'],
  })
})

test('a stock deposits only what the vault lacks, as a transfer or as coin', () => {
  const held = (amount: bigint) => ({
    ...done,
    tokens: new Map(
      [usdc, zeroAddress].map((token) => [token, { ...OPEN, held: amount, owned: 3n, credit: 0n }]),
    ),
  })
  const coin = { address: zeroAddress, symbol: 'ETH', decimals: 18, stock: 5n }
  const stocked = { ...wanted, tokens: [{ ...USDC, stock: 5n }, coin] }

  expect(callsOf(stocked, held(2n))).toEqual([
    [usdc, 'transfer', [vault, 3n]],
    [vault, 3n],
  ])
  expect(callsOf(stocked, held(5n))).toEqual([])
})

test.each([
  ['3 of 3 USDC', usdc, 3_000_000n, []],
  ['less USDC', usdc, 2_999_999n, ['the treasury has 2.999999 USDC, and the deposit is 3 USDC']],
  ['more than 3 ETH', zeroAddress, 3n * ETH + 1n, []],
  ['3 ETH and none for gas', zeroAddress, 3n * ETH, ['the treasury has 3 ETH, and the deposit is 3 ETH']],
])('a deposit of three coins by a treasury with %s', (_, token, owned, lacks) => {
  const coin = { address: zeroAddress, symbol: 'ETH', decimals: 18, stock: 3n * ETH }
  const stocked = { ...wanted, tokens: [token === usdc ? { ...USDC, stock: 3_000_000n } : coin] }
  const tokens = new Map([[token, { ...OPEN, held: 0n, owned, credit: 0n }]])

  expect(planTreasury(stocked, { ...done, tokens }).lacks).toEqual(lacks)
})

test('a claim that the vault could not receive is collected', () => {
  const credited = new Map([[usdc, { ...OPEN, held: 0n, owned: 0n, credit: 9n }]])

  expect(callsOf(wanted, { ...done, tokens: credited })).toEqual([[vault, 'collectCredit', [escrow, usdc]]])
})

test('a batch for a Safe names methods and values as its Transaction Builder reads them', () => {
  const { calls } = planTreasury({ ...wanted, deliverers: [deliverer], adapters: [] }, fresh)
  const batch = toSafeBatch({ chainId: 8453, name: 'base', treasury: other, calls: calls.slice(0, 2), at: 1 })

  expect(batch).toMatchObject({
    version: '1.0',
    chainId: '8453',
    createdAt: 1,
    meta: { createdFromSafeAddress: other },
    transactions: [
      {
        to: vault,
        value: '0',
        data: null,
        contractMethod: {
          name: 'setDeliverer',
          payable: false,
          inputs: [
            { name: 'deliverer', type: 'address', internalType: 'address' },
            { name: 'isAllowed', type: 'bool', internalType: 'bool' },
          ],
        },
        contractInputsValues: { deliverer, isAllowed: 'true' },
      },
      { to: escrow, contractInputsValues: { token: usdc, limitPerHour: '100000000000' } },
    ],
  })
})

test('the configured guardian is named in the vault, and its rights end by name', () => {
  const guarded = { ...done, guardian: other }

  expect(callsOf({ ...wanted, guardian: other }, done)).toEqual([[vault, 'setGuardian', [other]]])
  expect(callsOf({ ...wanted, guardian: other }, guarded)).toEqual([])
  expect(planTreasury(wanted, guarded)).toMatchObject({
    calls: [],
    notes: [`the guardian is ${other}, which is not configured: name it, or revoke it`],
  })
  expect(callsOf({ ...wanted, revoked: [other] }, guarded)).toEqual([[vault, 'setGuardian', [zeroAddress]]])
})

test('the part of the guardian is what lowers caps and revokes deliverers', () => {
  const raised = { ...USDC, cap: USDC.cap + 1n, claimCap: 0n, refundCap: 0n, stock: 5n }
  const revoking = { ...wanted, deliverers: [deliverer, adapter], revoked: [other], tokens: [raised] }
  const both = { ...done, deliverers: new Set([deliverer, other]), adapters: new Set([adapter, other]) }

  const { calls, notes, lacks } = guardianPart(planTreasury(revoking, both))

  expect(calls.map(({ method }) => [method?.abi.name, Object.values(method?.args ?? {})])).toEqual([
    ['setDeliverer', [other, false]],
    ['setClaimCap', [usdc, 0n]],
    ['setRefundCap', [usdc, 0n]],
  ])
  expect([notes, lacks]).toEqual([[], []])
})

test('a token that cannot be listed is refused unless it is closed', () => {
  const faulty = { ...OPEN, held: 0n, owned: 0n, credit: 0n, fault: 'takes 3 from the sender of 2' }
  const state = { ...done, tokens: new Map([[usdc, faulty]]) }
  const closed = { ...USDC, cap: 0n, claimCap: 0n }

  expect(planTreasury(wanted, state).refused).toEqual([
    'USDC takes 3 from the sender of 2: set its caps to 0 or remove it',
  ])
  expect(planTreasury({ ...wanted, tokens: [closed] }, state).refused).toEqual([])
})
