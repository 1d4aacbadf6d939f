import type { ChainEntry, Signer } from '@geoswap/sdk'

export type FamilyName = ChainEntry['family']
/** A private key of any family is 32 bytes. */
export type Key = { family: FamilyName; secret: Uint8Array }

export type Place = { chainId: number; name: string }
/** Values read from the chain itself, without trusting the service. */
export type Reads = {
  /** The spendable balance: on Solana that of the wallet's associated token account. */
  balanceOf(owner: string, token: string): Promise<bigint>
  decimalsOf(token: string): Promise<number>
  /** The symbol that the token's contract returns; undefined on a chain whose tokens have none. */
  symbolOf(token: string): Promise<string | undefined>
}

type InputState = 'none' | 'locked' | 'claimed' | 'refunded'

/** An input that may lie in the escrow of its chain, as its signed operation says. */
export type Input = {
  family: FamilyName
  chainId: number
  hash: string
  wallet: string
  token: string
  amount: bigint
  refundDeadline: bigint
  /** The state of the input and the time, by the chain itself. */
  read(rpcUrl: string, chain: Place): Promise<{ state: InputState; now: bigint }>
  /** The most that a refund costs the payer, and its balance for that. */
  readGas(rpcUrl: string, payer: Key): Promise<{ needed: bigint; held: bigint }>
  /** Sends the refund and waits for its end. The chain tells whether it succeeded. */
  refund(
    rpcUrl: string,
    options: { payer: Key; onSent(txHash: string): void },
  ): Promise<{ txHash: string; state: InputState; credited: boolean }>
  /** Whether a block of this node could still take the input; undefined where only the local clock knows. */
  isLockable?(rpcUrl: string): Promise<boolean>
}

/** One family of chains for wallets. Nothing else in wallet, command line and MCP server asks which it is. */
export type WalletFamily = {
  name: FamilyName
  coin: { name: string; decimals: number }
  /** The form used for comparing and storing; undefined for a text that is no address of this family. */
  parseAddress(text: string): string | undefined
  /** The secret that a text of this family holds; undefined for a text that is none. */
  parseKey(text: string): Promise<Uint8Array | undefined>
  /** The form that wallets import. */
  formatKey(secret: Uint8Array): Promise<string>
  signer(secret: Uint8Array): Promise<Signer>
  createReads(chain: Place, rpcUrl: string): Reads
  /** The input of an `operation` of a build reply; undefined for an operation of another family. */
  readInput(operation: unknown): Input | undefined
}
