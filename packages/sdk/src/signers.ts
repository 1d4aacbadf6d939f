import type { Authorization, TypedData } from '@geoswap/wire'
import { getBase64EncodedWireTransaction, getBase64Encoder, getTransactionDecoder } from '@solana/kit'
import {
  type Address,
  type Chain,
  type Hex,
  type LocalAccount,
  numberToHex,
  type TypedDataDefinition,
  type WalletClient,
} from 'viem'
import { SwapRefusedError } from './errors.ts'

/** The fields of an EIP-7702 authorization that are signed. */
export type AuthorizationFields = Pick<Authorization, 'chainId' | 'address' | 'nonce'>
export type AuthorizationSignature = Pick<Authorization, 'yParity' | 'r' | 's'>

export type EvmSigner = {
  family: 'evm'
  address: string
  /** EIP-191 personal_sign of the raw 32 bytes. A signer without it needs `signTypedData`. */
  signHash?: ((hash: Hex) => Promise<string>) | undefined
  /** Delegates the wallet at its first swap on a chain: the cheapest way. */
  signAuthorization?: ((fields: AuthorizationFields) => Promise<AuthorizationSignature>) | undefined
  /** EIP-712, `eth_signTypedData_v4`: used instead of `signHash`, because people can read it. */
  signTypedData?: ((typedData: TypedData) => Promise<string>) | undefined
  /** Sends one ordinary transaction and returns its hash: for inputs that the wallet cannot sign for. */
  sendTransaction?: ((transaction: PaymentTransaction) => Promise<string>) | undefined
  /** The same, for a signer that makes the transfer itself. */
  sendPayment?: ((payment: DepositPayment) => Promise<string>) | undefined
}

/** A transaction that sends an input; `value` is in native coin. */
export type PaymentTransaction = { chainId: number; to: Address; data: Hex; value: bigint }

/** A plain transfer; the zero address is the native coin. */
export type DepositPayment = {
  chainId: number
  to: string
  token: string
  amount: bigint
  /** The same transfer as a transaction. */
  transaction: PaymentTransaction
  /** In seconds: it should be on the chain by then. */
  until: number
  /** In seconds: after it no chain accepts the op that this pays. */
  opDeadline: number
}

/**
 * The wallet is asked for this, which is computed here: typed data, or the hash where the signer signs no typed
 * data; a transfer of its own; or a transaction in base64.
 */
export type ToSign =
  | { hash: Hex; typedData?: TypedData | undefined }
  | { payment: DepositPayment }
  | { transaction: string }

/** The ways of a signer to pay. */
export type Abilities = Pick<
  EvmSigner,
  'signAuthorization' | 'signTypedData' | 'sendTransaction' | 'sendPayment'
>

/** The time a signature can be used, by the clock of its origin chain. Times are in seconds. */
export type SignatureLifetime =
  /** `isAsked`: the wallet was asked for the transfer that pays this op, of this swap. */
  | { family: 'evm'; chainId: number; opDeadline: number; isAsked?: boolean; swapId?: string }
  | { family: 'solana'; chainId: number; blockhash: string; signedAt: number }

export type SolanaSigner = {
  family: 'solana'
  address: string
  /** Takes and returns base64: the same message with the wallet's signature added. */
  signTransaction(transaction: string): Promise<string>
}

export type Signer = EvmSigner | SolanaSigner

/** A local account of viem: `privateKeyToAccount`, `mnemonicToAccount`, `toAccount`. */
export function fromViemAccount(account: LocalAccount): EvmSigner {
  return {
    family: 'evm',
    address: account.address,
    signHash: (raw) => account.signMessage({ message: { raw } }),
    signAuthorization: account.signAuthorization && ((fields) => signWith(account, fields)),
    signTypedData: (typedData) => account.signTypedData(typedData as unknown as TypedDataDefinition),
  }
}

/**
 * A wallet client of viem, also of a wallet in a browser. It signs where it can; `{ ...signer, signTypedData:
 * undefined }` leaves a wallet that only sends.
 */
export function fromViemWallet(client: WalletClient): EvmSigner {
  const { account } = client
  if (!account) throw new TypeError('The wallet client has no account')
  const byNode: EvmSigner = {
    family: 'evm',
    address: account.address,
    signHash: (raw) => client.signMessage({ account, message: { raw } }),
    signTypedData: (typedData) =>
      client.signTypedData({ account, ...(typedData as unknown as TypedDataDefinition) }),
  }
  return {
    ...(account.type === 'local' ? fromViemAccount(account) : byNode),
    async sendTransaction({ chainId, to, data, value }) {
      const current = await client.getChainId()
      if (current !== chainId)
        throw new SwapRefusedError(
          'SIGNER',
          `The wallet is on chain ${current}. Switch it to chain ${chainId}: nothing was sent.`,
        )
      if (account.type === 'local')
        return client.sendTransaction({ account, chain: toChain(chainId, client), to, data, value })
      // viem would leave out the chain, and the wallet may be switched before its owner agrees.
      const request = {
        from: account.address,
        to,
        data,
        value: numberToHex(value),
        chainId: numberToHex(chainId),
      }
      return client.request({ method: 'eth_sendTransaction', params: [request] }, { retryCount: 0 })
    },
  }
}

/** With a chain, viem signs for that one, whichever the node is on by then. */
const toChain = (id: number, { chain }: WalletClient): Chain =>
  chain?.id === id
    ? chain
    : {
        id,
        name: `chain ${id}`,
        rpcUrls: { default: { http: [] } },
        nativeCurrency: { name: 'coin', symbol: 'COIN', decimals: 18 },
      }

/** An EIP-1193 provider, or a signer of ethers. */
type TypedDataWallet =
  | { request(call: { method: 'eth_signTypedData_v4'; params: string[] }): Promise<unknown> }
  | { signTypedData(domain: object, types: TypedData['types'], message: object): Promise<string> }

/**
 * A wallet that is asked for EIP-712 signatures and for nothing else: an EOA, a contract wallet (ERC-1271), or one
 * delegated to another provider.
 */
export function fromTypedData(address: string, wallet: TypedDataWallet): EvmSigner {
  return {
    family: 'evm',
    address,
    async signTypedData(data) {
      const params = [address, JSON.stringify(data)]
      if ('request' in wallet)
        return wallet.request({ method: 'eth_signTypedData_v4', params }) as Promise<string>
      // ethers computes the type of the domain by itself.
      const { EIP712Domain: _, ...types } = data.types
      return wallet.signTypedData(data.domain, types, data.message)
    },
  }
}

async function signWith(
  account: LocalAccount,
  { chainId, address, nonce }: AuthorizationFields,
): Promise<AuthorizationSignature> {
  const signed = await account.signAuthorization?.({ chainId, address: address as Address, nonce })
  if (!signed) throw new TypeError('The account cannot sign authorizations')
  // viem types it as optional, for signatures that carry only v.
  const yParity = signed.yParity ?? Number(signed.v) - 27
  return { yParity, r: signed.r, s: signed.s }
}

/** The part of kit's TransactionPartialSigner in use: applications without kit need no types of it. */
type KitSigner = {
  address: string
  signTransactions(transactions: readonly unknown[]): Promise<readonly Readonly<Record<string, unknown>>[]>
}

/**
 * A signer of kit that does not modify transactions: `generateKeyPairSigner`, `createKeyPairSignerFromBytes`.
 */
export function fromKitSigner(signer: KitSigner): SolanaSigner {
  return {
    family: 'solana',
    address: signer.address,
    async signTransaction(base64) {
      const transaction = getTransactionDecoder().decode(getBase64Encoder().encode(base64))
      const [signatures] = await signer.signTransactions([transaction])
      const signed = { ...transaction, signatures: { ...transaction.signatures, ...signatures } }
      return getBase64EncodedWireTransaction(signed)
    },
  }
}

/** Any other wallet: in a browser, on a hardware device, or a remote key. */
export function fromCallbacks(callbacks: EvmSigner): EvmSigner
export function fromCallbacks(callbacks: SolanaSigner): SolanaSigner
export function fromCallbacks(callbacks: Signer): Signer {
  return callbacks
}
