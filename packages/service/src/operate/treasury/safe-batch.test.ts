import { type Address, encodeFunctionData, type Hex, zeroAddress } from 'viem'
import { expect, test } from 'vitest'
import { toSafeBatch } from './apply.ts'
import { planTreasury, type TreasuryState, type Wanted } from './plan.ts'

const at = (digit: string): Address => `0x${digit.repeat(40)}`
const [vault, escrow, usdc, deliverer, adapter, old, owner] = ['1', '2', '3', '4', '5', '6', '7'].map(at) as [
  ...[Address, Address, Address, Address, Address, Address, Address],
]
const CAPS = { cap: 1n, claimCap: 2n, refundCap: 3n }
const CLOSED = { cap: 0n, claimCap: 0n, refundCap: 0n, isPlain: false, held: 0n }

/** Everything that a treasury can have to do. */
const wanted: Wanted = {
  contracts: { vault, escrow },
  deliverers: [deliverer],
  adapters: [adapter],
  revoked: [old],
  attesters: { members: [at('9'), at('8')], threshold: 2 },
  refundsStopped: true,
  tokens: [
    { address: usdc, symbol: 'USDC', decimals: 6, isPlain: true, ...CAPS, stock: 5n },
    { address: zeroAddress, symbol: 'ETH', decimals: 18, ...CAPS, stock: 7n },
  ],
}
const state: TreasuryState = {
  time: 1n,
  attesters: { members: [at('8')], threshold: 1, since: 0 },
  pending: undefined,
  refundsStopped: false,
  guardian: zeroAddress,
  deliverers: new Set([old]),
  adapters: new Set(),
  tokens: new Map([
    [usdc, { ...CLOSED, owned: 0n, credit: 9n }],
    [zeroAddress, { ...CLOSED, owned: 0n, credit: 0n }],
  ]),
}

type Sent = { to: Address; value: string; data: Hex | null } & Encoded
type Encoded = {
  contractMethod: { name: string; inputs: { name: string; type: string }[] } | null
  contractInputsValues: Record<string, string> | null
}

/** The data of a transaction, as the Transaction Builder makes it of the method and the texts of its inputs. */
function encode({ data, contractMethod, contractInputsValues }: Sent): Hex | null {
  if (!contractMethod) return data
  const { name, inputs } = contractMethod
  const args = inputs.map((input) => parse(input.type, contractInputsValues?.[input.name] ?? ''))
  const abi = [{ type: 'function', name, inputs, outputs: [], stateMutability: 'nonpayable' }] as const
  return encodeFunctionData({ abi, functionName: name, args } as never)
}

function parse(type: string, text: string): unknown {
  if (type.endsWith('[]'))
    return text
      .slice(1, -1)
      .split(',')
      .map((item) => parse(type.slice(0, -2), item.trim()))
  if (type === 'bool') return text === 'true'
  return type.startsWith('uint') ? BigInt(text) : text
}

test('a batch for a Safe has every call, which its Transaction Builder encodes as `apply` sends it', () => {
  const { calls } = planTreasury(wanted, state)
  const batch = toSafeBatch({ chainId: 1, name: 'one', treasury: owner, calls, at: 1 })

  const { transactions } = batch as { transactions: Sent[] }
  const sent = transactions.map((each) => ({ to: each.to, value: BigInt(each.value), data: encode(each) }))
  expect(new Set(calls.map(({ method }) => method?.abi.name))).toEqual(
    new Set([
      ...['setDeliverer', 'setAdapter', 'setAttestedRefundsStopped', 'proposeAttesters', 'setClaimCap'],
      ...['setRefundCap', 'setPlainToken', 'setCap', 'collectCredit', 'transfer', undefined],
    ]),
  )
  expect(sent).toEqual(calls.map(({ to, value, data }) => ({ to, value, data })))
})
