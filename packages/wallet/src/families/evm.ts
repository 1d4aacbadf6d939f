import { fromViemAccount } from '@geoswap/sdk'
import { families } from '@geoswap/sdk/families'
import { bytesToHex, type Hex, hexToBytes } from 'viem'
import { type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts'
import { badKey } from '../errors.ts'
import { assertChain, connectEvm, createEvmReads } from '../nodes/evm-node.ts'
import { readEscrow, readGasMoney, readOperation, sendRefund } from '../refund/escrow.ts'
import type { Input, Key, WalletFamily } from './family.ts'

const HEX = /^(0x)?([0-9a-fA-F]{64})$/

export const evm: WalletFamily = {
  name: 'evm',
  coin: { name: 'gas coin', decimals: 18 },
  parseAddress: families.evm.parseAddress,
  async parseKey(text) {
    const [, , digits] = HEX.exec(text) ?? []
    return digits === undefined ? undefined : hexToBytes(`0x${digits}`)
  },
  formatKey: async (secret) => bytesToHex(secret),
  signer: async (secret) => fromViemAccount(accountOf(secret)),
  createReads: createEvmReads,
  readInput: (operation) => (isEvm(operation) ? toInput(operation) : undefined),
}

/** Operations of an op have a typed message. */
function isEvm(operation: unknown): boolean {
  return typeof operation === 'object' && operation !== null && 'message' in operation
}

function accountOf(secret: Uint8Array): PrivateKeyAccount {
  try {
    return privateKeyToAccount(bytesToHex(secret) as Hex)
  } catch {
    throw badKey()
  }
}

/** For transactions, which only an account of viem sends. */
export function toAccount({ family, secret }: Key): PrivateKeyAccount {
  if (family !== evm.name) throw badKey('This has to be a key of an EVM wallet.')
  return accountOf(secret)
}

function toInput(operation: unknown): Input {
  const op = readOperation(operation)
  const { origin, hash, wallet, token, amount, refundDeadline } = op
  return {
    family: evm.name,
    chainId: origin.chainId,
    hash,
    wallet,
    token,
    amount,
    refundDeadline,
    async read(rpcUrl, chain) {
      await assertChain(connectEvm(rpcUrl), chain)
      return readEscrow(rpcUrl, op)
    },
    readGas: (rpcUrl, payer) => readGasMoney(rpcUrl, toAccount(payer).address),
    refund: (rpcUrl, { payer, onSent }) => sendRefund(rpcUrl, { op, account: toAccount(payer), onSent }),
    async isLockable(rpcUrl) {
      return (await connectEvm(rpcUrl).getBlock()).timestamp <= op.argument.opDeadline
    },
  }
}
