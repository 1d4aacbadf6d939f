import { BaseError } from 'viem'

// Words of go-ethereum, Erigon, Reth, Nethermind and Hardhat for a block that a backend does not have yet.
const UNKNOWN_BLOCK =
  /header (for hash )?not found|block .*(not found|not available)|(unknown|invalid) block|could not find block/i

export const saysUnknownBlock = (message: string): boolean => UNKNOWN_BLOCK.test(message)

/** Whether a read failed because the backend that answered lags the one that named the block. */
export function isUnknownBlock(error: unknown): boolean {
  return error instanceof BaseError && error.walk((each) => saysUnknownBlock(detailsOf(each))) !== null
}

const detailsOf = (error: unknown) => (error instanceof BaseError ? error.details : '')
