import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { stub } from '@geoswap/protocol/test/stub'
import { type Approval, createClient, type Deposit, fromKitSigner, intentOf } from '@geoswap/sdk'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js'
import { swap as swapCommand } from '../../packages/cli/src/commands/swap.ts'
import { openMcpContext } from '../../packages/mcp/src/open-context.ts'
import { createMcpServer } from '../../packages/mcp/src/server.ts'
import { account, evmRequest, origin, vault } from '../../packages/sdk/test/evm-offer.ts'
import { pins, solanaRequest, wallet as solanaWallet } from '../../packages/sdk/test/solana-offer.ts'
import { type Context, createContext, createInterrupts } from '../../packages/wallet/src/context.ts'
import { deriveKey, toSigner, addressOf as walletOf } from '../../packages/wallet/src/keys.ts'
import { createTerminal, type Streams } from '../../packages/wallet/src/terminal.ts'
import { walletId } from '../../packages/wallet/src/wallets.ts'
import { lossOf, needsConfirmation } from '../../packages/web/src/swap/loss.ts'
import type { Liar } from './liar.ts'

const key = deriveKey('evm', 'lies')
export const walletAddress = await walletOf(key)
const bot = { name: 'bot', family: 'evm', address: walletAddress } as const

/**
 * Requests the same swap this many times, like a program that takes an error for its end; returns how many
 * settled.
 */
export type Trader = (liar: Liar, order: { isExactOutput: boolean; times: number }) => Promise<number>

async function countSettled(times: number, act: () => Promise<unknown>): Promise<number> {
  let settled = 0
  for (let time = 0; time < times; time += 1) {
    const answer = await act().catch((error: unknown) => ({ error }))
    if (answer === 'settled') settled += 1
  }
  return settled
}

const contracts = {
  [origin.chainId]: { account, escrow: origin.escrow },
  [evmRequest.destinationChain]: { vault },
  [solanaRequest.originChain]: pins,
}
const retry = { baseMs: 10, maxMs: 20, forMs: 200, submitForMs: 200 }

const bySdk: Trader = async (liar, order) => swapBySdk(liar, order, {})

/** A wallet that signs no EIP-7702 authorization. */
const byAuthorization: Trader = async (liar, order) =>
  swapBySdk(liar, order, { signAuthorization: undefined })

const byPermit: Trader = async (liar, order) => swapBySdk(liar, order, { method: 'permit' })

type Way = { method?: 'permit'; signAuthorization?: undefined }

async function swapBySdk(liar: Liar, { isExactOutput, times }: Parameters<Trader>[1], way: Way) {
  const client = createClient({ baseUrl: liar.url, apiKey: 'key', contracts, retry })
  const { method, ...without } = way
  const signer = { ...(await toSigner(key)), ...without }
  const { walletAddress: _, ...route } = evmRequest
  const request = { ...route, ...(isExactOutput && { tradeType: 'exactOutput' as const }) }
  const sameAsset = { inputDecimals: 6, outputDecimals: 6 }
  return countSettled(
    times,
    async () => (await client.swap(request, signer, { sameAsset, method, timeoutMs: 100 })).status,
  )
}

/** Opens a swap that waits for a deposit; undefined if the client refuses the service. */
export async function openDeposit(liar: Liar): Promise<Deposit | undefined> {
  const client = createClient({ baseUrl: liar.url, apiKey: 'key', contracts, retry })
  const request = { ...evmRequest, walletAddress }
  const sameAsset = { inputDecimals: 6, outputDecimals: 6 }
  return client.deposit(request, { sameAsset }).catch(() => undefined)
}

export const bySdkOnSolana: Trader = async (liar, { times }) => {
  const client = createClient({ baseUrl: liar.url, apiKey: 'key', contracts, retry })
  const { walletAddress: _, ...request } = solanaRequest
  const signer = fromKitSigner(solanaWallet)
  return countSettled(times, async () => (await client.swap(request, signer, { timeoutMs: 100 })).status)
}

const byCommand: Trader = (liar, { isExactOutput, times }) =>
  inHome(liar, async (context) =>
    countSettled(times, async () => {
      const values = isExactOutput ? { receive: '10' } : { amount: '10' }
      const words = ['alpha:USDC', 'beta:USDC']
      return (await swapCommand.run({ ...context, seen: {} }, { values, words })) === 0 ? 'settled' : 'ended'
    }),
  )

const byModel: Trader = (liar, { isExactOutput, times }) =>
  inHome(liar, async (context) => {
    const flags = { maxSwapUsd: '25', maxDayUsd: '25', confirmAboveUsd: '25', waitSeconds: '1' }
    const server = createMcpServer(await openMcpContext(context, { isReadOnly: false, flags }))
    const client = new Client({ name: 'test', version: '1' })
    const [ours, theirs] = InMemoryTransport.createLinkedPair()
    await Promise.all([server.connect(ours), client.connect(theirs)])
    const amount = isExactOutput ? { receive: '10' } : { amount: '10' }
    const call = { name: 'execute_swap', arguments: { from: 'alpha:USDC', to: 'beta:USDC', ...amount } }
    const settled = await countSettled(times, async () => {
      const { structuredContent } = await client.callTool(call)
      return (structuredContent as { outcome?: string } | undefined)?.outcome
    })
    await client.close()
    return settled
  })

/** The page, with a user who agrees to every question except the one about a high loss. */
const byPage: Trader = async (liar, { isExactOutput, times }) => {
  const signatures = new Map()
  const client = createClient({ baseUrl: liar.url, apiKey: 'key', contracts, retry, signatures })
  const signer = await toSigner(key)
  const request = {
    ...evmRequest,
    walletAddress,
    ...(isExactOutput && { tradeType: 'exactOutput' as const }),
  }
  const usdc = { asset: 'USDC', decimals: 6 }
  return countSettled(times, async () => {
    const declined = new AbortController()
    const approve = async (approval: Approval) => {
      const isAsked = approval.kind === 'operation' && needsConfirmation(lossOf(approval.quote, usdc, usdc))
      if (isAsked) declined.abort()
      declined.signal.throwIfAborted()
    }
    const { signal } = declined
    const { submission } = await client.prepare(request, signer, { signal, approve })
    const { status } = await client.resume(submission, { timeoutMs: 100 })
    if (status === 'settled') signatures.delete(intentOf(request))
    return status
  })
}

export const traders: [string, Trader][] = [
  ['SDK', bySdk],
  ['SDK by authorization', byAuthorization],
  ['SDK by permit', byPermit],
  ['command line', byCommand],
  ['MCP server', byModel],
  ['page', byPage],
]

/** A separate machine: settings with pins and nodes, and an unlocked wallet. */
async function inHome<T>(liar: Liar, act: (context: Context) => Promise<T>): Promise<T> {
  const home = mkdtempSync(join(tmpdir(), 'geoswap-lies-'))
  const terminal = createTerminal(silent(), { json: true })
  const interrupts = createInterrupts(() => {})
  const context = createContext(
    { terminal, interrupts },
    {
      ...{ home, workingFolder: home, networkHome: home, given: { url: liar.url, apiKey: 'key' } },
      ...{ passphrase: 'not needed', gasKey: undefined, mcp: {} },
    },
  )
  for (const [name, value] of Object.entries(settingsOf(liar))) context.config.set(name, value)
  const wallets = { list: () => [bot], find: (name: string) => (name === bot.name ? bot : undefined) }
  const unlocked = new Map([[walletId(bot), key]])
  try {
    const { settings } = context
    return await act({ ...context, settings, unlocked, wallets: stub<Context['wallets']>(wallets) })
  } finally {
    rmSync(home, { recursive: true })
  }
}

function settingsOf(liar: Liar): Record<string, string> {
  const { chainId } = origin
  const { destinationChain } = evmRequest
  return {
    [`account.${chainId}`]: account,
    [`escrow.${chainId}`]: origin.escrow,
    [`vault.${destinationChain}`]: vault,
    [`rpc.${chainId}`]: liar.nodeUrl(chainId),
    [`rpc.${destinationChain}`]: liar.nodeUrl(destinationChain),
  }
}

function silent(): Streams {
  const stream = () => new PassThrough().resume()
  return stub<Streams>({ stdin: stream(), stdout: stream(), stderr: stream() })
}
