import { readFileSync } from 'node:fs'
import { type Address, keccak256, parseTransaction, TransactionReceiptNotFoundError } from 'viem'
import { describeError, type Env, type Output, parseFlags, UsageError } from '../command.ts'
import type { EvmChainConfig, NetworkConfig } from '../config.ts'
import { type Intent, pairSigned, parseExport, type SignedIntent } from './evm/offline.ts'
import { type ChainWallet, openWallet } from './evm/wallet.ts'
import { withContracts } from './family.ts'
import { readChosen } from './served.ts'

export const SEND_SIGNED_HELP = `send-signed EXPORTED SIGNED [--config FILE]
      Sends what deploy --export or treasury plan --export wrote to EXPORTED and a wallet elsewhere signed. SIGNED has
      one transaction a line, in hexadecimal. Sends nothing unless each is one of EXPORTED by chain, sender, nonce,
      recipient, value and data, with at most twice its gas and fees, and its nonce is free. Run it again to continue.`

type Ready = { chain: EvmChainConfig; wallet: ChainWallet; due: readonly SignedIntent[] }

/** Judges all of it before anything is sent, on any chain. */
export async function sendSigned(args: string[], env: Env, output: Output): Promise<number> {
  const options = { config: { type: 'string' } } as const
  const { values, positionals } = parseFlags({ args, options, allowPositionals: true })
  const [exported, signed, ...more] = positionals
  if (!exported || !signed || more.length > 0)
    throw new UsageError('Name two files: send-signed EXPORTED SIGNED.')
  const { network } = readChosen(env, values.config)
  const pairs = await pairSigned(parseExport(read(exported)), linesOf(read(signed)))
  if (pairs.length === 0) throw new UsageError(`${signed} has no transaction.`)
  const ready: Ready[] = []
  for (const some of groupByChain(pairs)) ready.push(await prepare(network, some, output))
  for (const each of ready) await sendAll(each, output)
  const sent = ready.reduce((sum, { due }) => sum + due.length, 0)
  output.out(`Done: ${sent} sent, ${pairs.length - sent} were in blocks before.`)
  return 0
}

function read(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    throw new UsageError(`${file} cannot be read: ${describeError(error)}`)
  }
}

const linesOf = (text: string) =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')

function groupByChain(pairs: readonly SignedIntent[]): SignedIntent[][] {
  const ids = [...new Set(pairs.map(({ intent }) => intent.chainId))]
  return ids.map((id) => pairs.filter(({ intent }) => intent.chainId === id))
}

/** Those that are not in a block yet, whose nonces are the next ones. */
async function prepare(
  network: NetworkConfig,
  pairs: readonly SignedIntent[],
  output: Output,
): Promise<Ready> {
  const [first] = pairs
  const chain = withContracts(network.chains).find(({ chainId }) => chainId === first?.intent.chainId)
  if (!first || !chain)
    throw new UsageError(`Chain ${first?.intent.chainId} is no EVM chain of the configuration.`)
  const senders = new Set(pairs.map(({ intent }) => intent.from))
  if (senders.size > 1)
    throw new UsageError(`One sender at a time on ${chain.name}: ${[...senders].join(', ')}.`)
  const wallet = await openWallet(chain, { address: first.intent.from as Address })
  const due: SignedIntent[] = []
  for (const pair of pairs) {
    if (pair.intent.nonce >= wallet.nextNonce()) due.push(pair)
    else if (await isDone(wallet, pair)) output.hint(`${titleOf(pair.intent)}: is in a block already`)
    else
      throw new UsageError(
        `Nonce ${pair.intent.nonce} of ${pair.intent.from} on ${chain.name} is used by another transaction. ` +
          'Nothing was sent: export again.',
      )
  }
  const [next] = due
  if (next && next.intent.nonce > wallet.nextNonce())
    throw new UsageError(
      `The next nonce on ${chain.name} is ${wallet.nextNonce()}, not ${next.intent.nonce}.`,
    )
  return { chain, wallet, due }
}

/** False if it is in no block. Throws if it was reverted: those after it count on its effect. */
async function isDone({ client }: ChainWallet, { intent, raw }: SignedIntent): Promise<boolean> {
  const receipt = await client.getTransactionReceipt({ hash: keccak256(raw) }).catch((error: unknown) => {
    if (error instanceof TransactionReceiptNotFoundError) return undefined
    throw error
  })
  if (receipt && receipt.status !== 'success')
    throw new UsageError(`${titleOf(intent)}: was reverted. Nothing was sent: plan and export again.`)
  return receipt !== undefined
}

const titleOf = ({ chain, nonce, text }: Intent) => `${chain}: nonce ${nonce}, ${text}`

/** Each after the one before is in a block. One that would fail now, also for want of gas, is not sent. */
async function sendAll({ chain, wallet, due }: Ready, output: Output): Promise<void> {
  for (const { intent, raw } of due) {
    const { from, to, value, data } = intent
    try {
      const call = {
        account: from as Address,
        to: to as Address,
        value: BigInt(value),
        data: data as `0x${string}`,
      }
      const [needed, { gas = 0n }] = [await wallet.client.estimateGas(call), parseTransaction(raw)]
      if (needed > gas)
        throw new Error(
          `it needs ${needed} gas, and ${gas} is signed: it was not sent. Plan and export again.`,
        )
      const { txHash } = await wallet.sendRaw(raw)
      output.out(`${titleOf(intent)}\n  in a block: ${txHash}`)
    } catch (error) {
      const rest = `Later ones on ${chain.name} were not sent.`
      throw new Error(`${titleOf(intent)}\n  failed: ${describeError(error)}\n${rest}`, { cause: error })
    }
  }
}
