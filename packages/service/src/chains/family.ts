import type { TSchema } from 'typebox'
import type { ChainFields, Finished } from '../config/fields.ts'
import type { Problem } from '../config/shape.ts'
import type { AttesterSet } from '../swap/attester-set.ts'
import type { Token } from '../swap/catalog.ts'
import type { ChainCustody, CustodyOf } from '../swap/op-terms.ts'
import type { Senders } from '../swap/served-chain.ts'
import type { Op } from '../swap/swap.ts'
import type { Attested } from './attested.ts'
import type { Block, Chain, InputBuilder, LockRef, RecipientView, TxRequest } from './chain.ts'
import type { CustodyChain } from './custody.ts'
import type { Findings } from './findings.ts'
import type { NodeWatch } from './nodes/post-json.ts'
import type { RecoveryChain } from './recovery.ts'
import type { HeadSubscription, ViewReader } from './view.ts'

/** Everything that the service knows about one family of chains. Only `chains/families.ts` names the families. */
export type Family<C extends ChainFields = ChainFields, Name extends string = string> = {
  /** The `family` of its chains in the configuration. */
  name: Name
  /** Its name in messages. */
  title: string
  schema: TSchema
  nativeToken: Pick<Token, 'address' | 'decimals'>
  addresses: AddressRules
  config: ConfigRules<Written<C>>
  traits: Traits
  keys: FamilyKeys<Written<C>>
  /** The holders of inputs and inventory. */
  custodyOf(config: C): ChainCustody
  /** The contracts for which wallets sign, as the page shows them. */
  pinsOf(config: C): Pins
  /** Whether an error says that a node was silent. */
  isSilence(error: unknown): boolean
  /** Whether an error says that no backend has the newest block yet. */
  isBehind(error: unknown): boolean
  /** A chain with the parts that the processes need. Makes no call to a node. */
  connect(options: ConnectOptions<C>): Ungated<C>
}

export type AddressRules = {
  /** Matches the addresses of the family in a configuration, and those of no other family. */
  pattern: RegExp
  /** The form of an address in words, to follow "must be". */
  form: string
  /** The canonical form of the address, for storage and comparison; undefined if it is not an address. */
  parse(text: string): string | undefined
  /** Whether a private key for this address can exist. */
  canSign(address: string): boolean
  /** Equal for two forms of one address. */
  keyOf(address: string): string
  /** The fault of a configured address, of one that has a role, and of that of a contract. */
  findFault(address: string, what: string): string | undefined
  findRoleFault?(address: string, what: string): string | undefined
  findContractFault?(address: string, what: string): string | undefined
}

/** An address of a configuration, its role, and its path, below that of its chain. */
export type Named = { address: string; path: string; what: string }

/** A chain as its configuration is written, as far as the rules of a family look at it. */
type Written<C> = C extends unknown ? Omit<C, keyof Finished> : never

/** `fields` are those that the functions read. */
export type ConfigRules<C> = {
  /** Addresses of keys that act on this chain alone. */
  roles: { fields: readonly string[]; of(chain: C): Named[] }
  contracts: { fields: readonly string[]; of(chain: C): Named[] }
  /** Contradictions between other fields. */
  checks: readonly { fields: readonly string[]; find(chain: C): Problem[] }[]
}

/** Facts that hold for all chains of a family. */
type Traits = {
  /** Whether escrows reject ops that could hold an input for longer than a week. */
  limitsHold: boolean
  /** For how long after its deadline a delivery can be proven; undefined without a limit. */
  provenSeconds?: number
  /** Whether price feeds and pools can be on its chains. */
  hasContracts: boolean
  /** Whether the vault is a contract that keeps the hourly caps. Otherwise the service keeps them. */
  capsPayouts: boolean
  /** Whether keys pay nothing but fees. Otherwise they also pay rent that returns: the ledger knows the fees. */
  paysOnlyFees: boolean
  /** Calls that a new head takes from this many nodes, of which a majority has to name it. */
  callsPerHead(nodes: number): number
  /** Unmined transactions per key, unless the configuration says otherwise. */
  maxInFlight: number
}

/** A key of this process. Only its family does more than read the address. */
export type Signer = { address: string }

type FamilyKeys<C> = {
  /** Roles of key files; a key has one role. */
  roles: readonly string[]
  sources: readonly KeySource[]
  open(privateKey: string): Signer | Promise<Signer>
  addressOf(privateKey: string): string
  /** Web3 Secret Storage has no form for the addresses of most families. */
  inFile: { write(address: string): string; read(text: string): string }
  /** The addresses that a worker signs for on these chains, without those that top them up. */
  ofWorker(network: Keys, chains: readonly C[]): string[]
  /** Pairs of a sender and the other key that signs all that it sends. Absent where each signs alone. */
  cosignersOf?(chains: readonly C[]): readonly (readonly [sender: string, cosigner: string])[]
  /** Those whose signatures of attestations may count. */
  ofAttesters(network: Keys, chains: readonly C[]): string[]
}

/** A variable with keys of a process. Without it, they are those of the roles in the keystore. */
export type KeySource = {
  process: 'worker' | 'attester'
  variable: string
  roles: readonly string[]
  /** `isGiven`: the variable or the keystore has some. The configuration may be invalid, and contain anything. */
  isNeeded(
    network: Partial<Keys> & {
      gasFloat?: object
      chains?: readonly ({ family: string } & Record<string, unknown>)[]
    },
    known: { isGiven(): boolean; isRemote(...addresses: unknown[]): boolean },
  ): boolean
}

/** The keys of a configuration. */
type Keys = {
  relayers: readonly string[]
  authorizationRelayers: readonly string[]
  deliverers: readonly string[]
  retiring?: readonly string[]
  attesters: AttesterSet
  nextAttesters?: AttesterSet
}

/** The parts of a configuration that its chains share. */
export type Shared = Keys & {
  treasury?: string
  assets: readonly { name: string; sources: readonly PriceFeed[] }[]
}
type PriceFeed =
  | { kind: 'chainlink'; chainId: number; address: string; description?: string }
  | { kind: 'pyth' }

/**
 * Recorded transactions of one step of ops, by op id, the likeliest first. The record may be incomplete or wrong: the
 * chain decides what they did.
 */
export type FindSigned = (
  step: 'input' | 'deliver' | 'exit',
  ids: readonly string[],
) => Promise<ReadonlyMap<string, readonly string[]>>

export type ConnectOptions<C> = {
  network: Shared
  config: C
  urls: readonly string[]
  /** Keys of this process; empty in one without keys. */
  signers: readonly Signer[]
  /** Tops up the sending keys of this chain. */
  float: string | undefined
  /** Venues that the vault of this chain buys from. */
  venues: readonly { chainId: number }[]
  /** The ways in which inputs come in, by name. */
  locks: readonly { name: string }[]
  /** Finds recorded transactions of payments; undefined if none is looked up. */
  findSigned?: FindSigned | undefined
  custodyOf: CustodyOf
  /** The name of this process in requests to nodes. */
  caller?: string | undefined
  watches?: readonly NodeWatch[] | undefined
  /** For how long to ask again while the nodes do not know the newest block yet. */
  patienceMs?: number | undefined
  assertOutsideTransaction(): void
}

/** Signs attestations, and finds who signed one. */
export type Attestations = {
  sign(signer: string, attested: Attested, ops: readonly Op[]): Promise<string>
  /** Undefined if the text is no signature of an attester. */
  recoverSigner(attested: Attested, signature: string): Promise<string | undefined>
}

/** Closes markers of deliveries, which returns their rent. */
export type Sweeping = {
  /** For how long after its deadline the marker of a delivery cannot be closed. */
  marginSeconds: number
  /** The deliveries among these whose marker still exists and may be closed. */
  findSweepable(deliveryHashes: readonly string[], at: Block): Promise<string[]>
}

/** Closes accounts that were opened for payments which never came, which returns their rent. */
export type Closing = {
  /** Whether the op's account is open, and can be closed once its refund deadline has passed. */
  isClosable(op: LockRef, at: Block): Promise<boolean>
  planClose(op: LockRef): TxRequest
}

/** Whether a chain was verified against the configuration. Until then it is neither read nor acted on. */
export type Gate = { isOpen: boolean }

/** A chain of any family, with the parts that the processes need. */
export type ConnectedChain<C extends ChainFields = ChainFields> = {
  config: C
  family: Pick<Family, 'name' | 'traits' | 'addresses'>
  chain: Chain
  attestations: Attestations
  /** For the ledger. */
  custody: CustodyChain
  /** For rebuilding the database. */
  recovery: RecoveryChain
  /** For the one process that follows the chain. */
  view: ViewReader
  /** Subscribes to new heads; undefined without a configured WebSocket. */
  listenToHeads?(listener: { onHead(): void; onFault(error: unknown): void }): HeadSubscription | undefined
  senders: Senders
  /** Senders that get no new work. */
  retiring: readonly string[]
  maxAmount: bigint
  nativeToken: Pick<Token, 'address' | 'decimals'>
  ownAddresses: readonly string[]
  /** Lists the differences between the chain with its nodes and the configuration. */
  verify(): Promise<Findings>
  loadTokens(): Promise<Token[]>
  /** A sender's native balance, in the smallest unit. */
  readGasBalance(address: string): Promise<bigint>
  /** Any owner's balance of a token or of the native coin. */
  readTokenBalance(owner: string, token: string): Promise<bigint>
  /** The hash of the code at an address, or `none`. Absent where an owner never has code. */
  readCodeHash?(address: string): Promise<string>
  /**
   * Asks a function of a contract about an address; a majority of the nodes has to agree. Undefined for anything but a
   * plain yes or no. Absent where contracts have no such functions.
   */
  readFlag?(flag: string, contract: string, address: string): Promise<boolean | undefined>
  /** The least native balance of an account. Absent where an account may be empty. */
  readLeastBalance?(): Promise<bigint>
  /** Absent on a chain that can pay every address. */
  inspectRecipient?(party: { recipient: string; token: string }): Promise<RecipientView>
  /** On a chain where the wallet signs the transaction that takes its input. */
  builder?: InputBuilder | undefined
  /** On a chain where the wallet signs an op for these contracts. */
  contracts?: Contracts
  /** Absent where deliveries leave no account behind. */
  sweeping?: Sweeping
  /** Absent where nothing is opened for a payment. */
  closing?: Closing
  /** Closed until the chain was verified against the configuration. */
  gate: Gate
}

type Pins = { account?: string; escrow: string; vault: string; attester?: string }

type Hex = `0x${string}`
export type Contracts = { account: Hex; escrow: Hex; vault: Hex }

/** A chain as its family connects it, before it has a gate. */
export type Ungated<C extends ChainFields = ChainFields> = Omit<ConnectedChain<C>, 'gate' | 'family'>
