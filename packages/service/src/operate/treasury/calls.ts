import { geoEscrowAbi, geoVaultAbi } from '@geoswap/protocol'
import {
  type Abi,
  type AbiFunction,
  type Address,
  decodeErrorResult,
  encodeFunctionData,
  erc20Abi,
  type Hex,
  isHex,
} from 'viem'

const ABIS = { GeoVault: geoVaultAbi, GeoEscrow: geoEscrowAbi, token: erc20Abi } as const

/** The arguments of a call, by name, in their order. */
type Args = Readonly<Record<string, Arg>>
type Arg = string | boolean | bigint | readonly string[]

/** As people and the builder of a Safe write it. */
export function textOf(arg: Arg | undefined): string {
  return Array.isArray(arg) ? `[${arg.join(', ')}]` : String(arg)
}

/** One transaction of the treasury. `text` is for people, `method` for the builder of a Safe. */
export type TreasuryCall = {
  /** Whether the guardian may make it too. */
  isLess?: boolean
  to: Address
  value: bigint
  data: Hex
  text: string
  method?: { abi: AbiFunction; args: Args }
}

type Asked = {
  contract: keyof typeof ABIS
  to: Address
  name: string
  args: Args
  says: string
  isLess?: boolean
}

export function toCall({ contract, to, name, args, says, isLess = false }: Asked): TreasuryCall {
  const abi: Abi = ABIS[contract]
  const found = abi.find((item): item is AbiFunction => item.type === 'function' && item.name === name)
  if (!found) throw new Error(`${contract} has no ${name}`)
  const data = encodeFunctionData({ abi: [found], functionName: name, args: Object.values(args) })
  const shown = Object.values(args).map(textOf)
  const text = `${contract}.${name}(${shown.join(', ')}): ${says}`
  return { to, value: 0n, data, text, method: { abi: found, args }, isLess: isLess || undefined }
}

/** A payment of native coin. */
export function toPayment(to: Address, value: bigint, says: string): TreasuryCall {
  return { to, value, data: '0x', text: says }
}

/** The name of the contract's error that refused a call; undefined if none is known. */
export function revertIn(error: unknown): string | undefined {
  const data = dataIn(error)
  if (data === undefined || data.length < 10) return undefined
  try {
    const { errorName } = decodeErrorResult({ abi: [...geoVaultAbi, ...geoEscrowAbi], data })
    return `the contract refused it with ${errorName}`
  } catch {
    // Another contract's error.
    return undefined
  }
}

/** Nodes return the data of a revert in the error, or in an object of it. */
function dataIn(error: unknown): Hex | undefined {
  const { data, cause } = (error ?? {}) as { data?: unknown; cause?: unknown }
  if (isHex(data)) return data
  const inner = typeof data === 'object' ? dataIn(data) : undefined
  return inner ?? (cause === undefined ? undefined : dataIn(cause))
}
