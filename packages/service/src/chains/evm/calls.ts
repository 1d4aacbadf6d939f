import {
  type Delivery,
  type EscrowOp,
  geoEscrowAbi,
  geoVaultAbi,
  hashDelivery,
  hashEscrowOp,
  toBytes32,
} from '@geoswap/protocol'
import {
  type Abi,
  type Address,
  type ContractFunctionArgs,
  type DecodeFunctionDataReturnType,
  decodeFunctionData,
  type Hex,
  isAddressEqual,
  type PublicClient,
  size,
} from 'viem'
import type { WayName } from '../../swap/swap.ts'
import type { EvmChainSettings } from './settings.ts'
import type { EscrowCall, EvmLock } from './ways.ts'

type Contracts = Pick<EvmChainSettings, 'chainId' | 'escrow' | 'vault'>
type Call = { from: Address; to: Address | null; input: Hex }

/** Throws while the node does not know the transaction, which proves nothing. */
export async function readCall(client: PublicClient, hash: string): Promise<Call> {
  const { from, to, input } = await client.getTransaction({ hash: hash as Hex })
  return { from, to, input }
}

/** `method`: how a lock took its input. */
type CalledOp = EscrowOp & { hash: Hex; method?: WayName }

/** The ops in a call to the escrow, each identified by the hash of its content. None if the call cannot be decoded. */
export function opsIn(
  { chainId, escrow }: Contracts,
  locks: readonly EvmLock[],
  { from, to, input }: Call,
): CalledOp[] {
  if (!to || !isAddressEqual(to, escrow)) return []
  const call = decode(geoEscrowAbi, input)
  if (!call) return []
  const identify = (op: EscrowOp) => ({ ...op, hash: hashEscrowOp({ chainId, escrow }, op) })
  for (const { name, opsIn } of locks) {
    const locked = opsIn(call)
    if (locked) return locked.map((op) => ({ ...identify({ ...op, locker: from }), method: name }))
  }
  return escrowOpsIn(call).map(identify)
}

// Far above what our keys send: some bytes may stand for many entries.
const MAX_CALL_BYTES = 131_072

/** Undefined for bytes that are too many, or not encoded as this ABI says, though a chain may still execute them. */
function decode<const A extends Abi>(abi: A, data: Hex): DecodeFunctionDataReturnType<A> | undefined {
  if (size(data) > MAX_CALL_BYTES) return undefined
  try {
    return decodeFunctionData({ abi, data })
  } catch {
    return undefined
  }
}

function escrowOpsIn(call: EscrowCall): EscrowOp[] {
  switch (call.functionName) {
    case 'claim':
      return [{ ...call.args[0].op, locker: call.args[0].locker }]
    case 'claimMany':
      return call.args[0].map(({ op, locker }) => ({ ...op, locker }))
    case 'refund':
    case 'refundAttested':
      return [{ ...call.args[1], locker: call.args[0] }]
    default:
      return []
  }
}

type CalledDelivery = {
  hash: Hex
  delivery: Delivery
  token: Address
  recipient: Address
  /** For a bought output: the most that is sold for it, and the contract that it is bought through. */
  bought?: { payToken: Address; payAmount: bigint; adapter: Address }
}

/** The deliveries in a call to the vault, each identified by the hash of its content. */
export function deliveriesIn(contracts: Contracts, { to, input }: Call): CalledDelivery[] {
  if (!to || !isAddressEqual(to, contracts.vault)) return []
  const call = decode(geoVaultAbi, input)
  switch (call?.functionName) {
    case 'deliver': {
      const [ring, token, fill] = call.args
      return [toCalled(contracts, { ring, token, fill })]
    }
    case 'deliverMany':
      return call.args[0].map((order) => toCalled(contracts, order))
    case 'deliverVia': {
      const [adapter, ring, payToken, payAmount, token, fill] = call.args
      return [{ ...toCalled(contracts, { ring, token, fill }), bought: { payToken, payAmount, adapter } }]
    }
    default:
      return []
  }
}

type Order = ContractFunctionArgs<typeof geoVaultAbi, 'nonpayable', 'deliverMany'>[0][number]

function toCalled({ chainId, vault }: Contracts, { ring, token, fill }: Order): CalledDelivery {
  const delivery = {
    ring,
    index: fill.index,
    destinationChain: BigInt(chainId),
    vault: toBytes32(vault),
    outputToken: toBytes32(token),
    minOutput: fill.minOutput,
    recipient: toBytes32(fill.recipient),
    fillDeadline: fill.fillDeadline,
  }
  return { hash: hashDelivery(delivery), delivery, token, recipient: fill.recipient }
}
