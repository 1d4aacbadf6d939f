import { testTokenAbi } from '@geoswap/protocol'
import { checksumAddress, encodeFunctionData, getAddress, type Hex, isAddressEqual, zeroAddress } from 'viem'
import { createEvmClient, createEvmSender, type EvmCall, waitForReceipt } from '../evm-sender.ts'
import { type FaucetChain, FaucetRefusal } from './faucet-chain.ts'

// Enough gas for the code of a contract or delegated wallet that receives native coin, and for the L1 part on Arbitrum
// in a spike.
const GIFT_GAS = 2_000_000n
const INCLUSION_TIMEOUT_MS = 60_000
// A trillion whole tokens of 18 decimals.
const LARGEST_AMOUNT = 10n ** 30n

export type EvmFaucetOptions = {
  chainId: number
  rpcUrl: string
  privateKey: Hex
  tokens: readonly { symbol: string; address: string }[]
}

export function createEvmFaucet(options: EvmFaucetOptions): FaucetChain {
  const client = createEvmClient(options.rpcUrl)
  const sender = createEvmSender(client, options)
  return {
    chainId: options.chainId,
    tokens: options.tokens,
    largestAmount: LARGEST_AMOUNT,
    findProblem: findAddressProblem,
    async give(gift) {
      const hash = await sender.send(toCall(gift))
      const receipt = await waitForReceipt(client, { hash, timeoutMs: INCLUSION_TIMEOUT_MS })
      if (!receipt) throw refuseLate(hash)
      if (receipt.status !== 'success') throw refuseReverted(hash)
      return hash
    },
  }
}

function toCall(gift: { address: string; token: string; amount: bigint }): EvmCall {
  const to = getAddress(gift.address)
  const token = getAddress(gift.token)
  if (isAddressEqual(token, zeroAddress)) return { to, value: gift.amount, gas: GIFT_GAS }
  const data = encodeFunctionData({ abi: testTokenAbi, functionName: 'mint', args: [to, gift.amount] })
  return { to: token, data, gas: GIFT_GAS }
}

function findAddressProblem(address: string): string | undefined {
  if (!/^0x[0-9a-fA-F]{40}$/.test(address)) return 'address must be 0x and 40 hex digits'
  if (/^0x0{40}$/.test(address)) return 'address must not be the zero address'
  const digits = address.slice(2)
  if (digits === digits.toLowerCase() || digits === digits.toUpperCase()) return undefined
  const expected = checksumAddress(`0x${digits.toLowerCase()}`)
  return expected === address ? undefined : `address has a wrong checksum: is it ${expected}?`
}

function refuseLate(hash: Hex): FaucetRefusal {
  const message = `Transaction ${hash} was sent but not included within 60 s: is the chain halted?`
  return new FaucetRefusal({ status: 504, code: 'NOT_INCLUDED', message })
}

function refuseReverted(hash: Hex): FaucetRefusal {
  const message = `Transaction ${hash} reverted: the recipient refuses it`
  return new FaucetRefusal({ status: 422, code: 'RECIPIENT_REFUSES', message })
}
