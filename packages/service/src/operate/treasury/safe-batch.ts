import type { Address } from 'viem'
import { type TreasuryCall, textOf } from './calls.ts'

type Batch = { chainId: number; name: string; treasury: Address; calls: readonly TreasuryCall[]; at: number }

/** A batch as the Transaction Builder of a Safe imports it. It shows methods that it encodes itself. */
export function toSafeBatch({ chainId, name, treasury, calls, at }: Batch): object {
  return {
    version: '1.0',
    chainId: String(chainId),
    createdAt: at,
    meta: {
      name: `geoswap treasury on ${name}`,
      description: calls.map(({ text }) => text).join('\n'),
      txBuilderVersion: '1.18.0',
      createdFromSafeAddress: treasury,
      createdFromOwnerAddress: '',
    },
    transactions: calls.map(toTransaction),
  }
}

function toTransaction({ to, value, data, method }: TreasuryCall): object {
  const sent = { to, value: String(value) }
  if (!method) return { ...sent, data, contractMethod: null, contractInputsValues: null }
  const { name, inputs, stateMutability } = method.abi
  const values = Object.values(method.args)
  return {
    ...sent,
    data: null,
    contractMethod: {
      name,
      payable: stateMutability === 'payable',
      inputs: inputs.map(({ name = '', type, internalType = type }) => ({ name, type, internalType })),
    },
    contractInputsValues: Object.fromEntries(
      inputs.map((input, index) => [input.name ?? '', textOf(values[index])]),
    ),
  }
}
