import type { BuildGeoOpReply } from '@geoswap/wire'
import { type Address, concat, encodeFunctionData, erc20Abi, type Hex, numberToHex, pad, size } from 'viem'
import { digestOf } from './ways.ts'

// Code of strangers, and their calls of our contracts.

/** Makes each call of its input: an address, the length of the call in 4 bytes, the call. Calls may fail. */
export const CALLER: Hex =
  '0x5f5b368110600957005b806014013560e01c80826018015f375f5f825f5f863560601c5af15001601801600156'
/** Emits the data after two words, which are its topics. */
export const EMITTER: Hex = '0x604036038060405f375f35602035915fa200'

/** ERC-1271: accepts signatures that begin with the hash. */
export const ACCEPTS: Hex = '0x60043560643514631626ba7e60e01b025f5260205ff3'
/** ERC-1271 wallets that do not answer the same each time, or at all. */
export const walletCodes = {
  hasNoCode: '0x',
  answersNothing: '0x00',
  burnsAllGas: '0x5b5f56',
  answersMegabytes: '0x624500005ff3',
  acceptsWhileGasIsFree: '0x3a15631626ba7e60e01b025f5260205ff3',
  acceptsOfNoOrigin: '0x3215631626ba7e60e01b025f5260205ff3',
  acceptsWithMuchGas: '0x620f42405a11631626ba7e60e01b025f5260205ff3',
  acceptsInEverySecondBlock: '0x43600116631626ba7e60e01b025f5260205ff3',
} as const satisfies Record<string, Hex>
/** Recipients of coins. */
export const recipientCodes = {
  takesInEverySecondBlock: '0x43600116600a575f5ffd5b00',
  takesWhileGasIsFree: '0x3a156008575f5ffd5b00',
  burnsAllGas: '0x5b5f56',
  refusesWithMegabytes: '0x624500005ffd',
} as const satisfies Record<string, Hex>

/** A signature that `ACCEPTS` takes. */
export function signatureForCode(build: BuildGeoOpReply): Hex {
  return concat([digestOf(build), pad('0x01', { size: 100 })])
}

/** One call for `CALLER`. */
export const callOf = (to: Address, data: Hex) => concat([to, numberToHex(size(data), { size: 4 }), data])

export const transferOf = (token: Address, to: Address, amount: bigint) =>
  callOf(token, encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [to, amount] }))
