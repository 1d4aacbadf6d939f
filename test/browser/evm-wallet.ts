import type { Page } from 'playwright-core'
import type { Hex, TypedDataDefinition } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import type { WorldChain } from '../world.ts'

declare global {
  interface Window {
    askWallet(method: string, params: unknown): Promise<{ result?: unknown; error?: unknown }>
  }
}

type Sent = { to: Hex; data: Hex; value?: Hex; chainId: Hex }
type Batch = { chainId: Hex; calls: Sent[] }

type Options = {
  /** The chains on which it can send. */
  chains?: readonly WorldChain[]
  /** Offers EIP-5792. */
  hasCalls?: boolean
  /** The status of each batch that it is given: it sends none of them. */
  callsStatus?: number | undefined
}

const hexOf = (chainId: number): Hex => `0x${chainId.toString(16)}`

class Refusal extends Error {
  readonly code: number
  constructor(code: number, message: string) {
    super(message)
    this.code = code
  }
}

/**
 * A wallet in the browser that announces itself by EIP-6963 and behaves like MetaMask: it signs typed data of its
 * current chain, sends transactions there, switches chains when asked, and signs no EIP-7702 authorization for a page.
 * Its owner is `owner`.
 */
export async function installEvmWallet(
  page: Page,
  privateKey: Hex,
  { chains = [], hasCalls = false, callsStatus }: Options = {},
) {
  const account = privateKeyToAccount(privateKey)
  const asked: string[] = []
  const owner = { confirms: async () => true, switches: true }
  let current = hexOf(1)

  async function send({ to, data, value = '0x0' }: Sent, chainId: Hex): Promise<Hex> {
    if (!(await owner.confirms())) throw new Refusal(4001, 'User rejected the request.')
    const chain = chains.find((each) => hexOf(each.chainId) === chainId)
    if (!chain) throw new Refusal(-32603, 'There is no such chain')
    return chain.client.sendTransaction({ account, chain: null, to, data, value: BigInt(value) })
  }

  async function answer(method: string, params: readonly unknown[]): Promise<unknown> {
    if (method === 'eth_requestAccounts' || method === 'eth_accounts') return [account.address]
    if (method === 'eth_chainId') return current
    if (method === 'wallet_switchEthereumChain') {
      if (!owner.switches) throw new Refusal(4902, 'Unrecognized chain ID')
      current = (params[0] as { chainId: Hex }).chainId
      return null
    }
    if (method === 'eth_signTypedData_v4') {
      const typedData = JSON.parse(String(params[1])) as TypedDataDefinition
      if (hexOf(Number(typedData.domain?.chainId)) !== current) throw new Error('This is another chain')
      return account.signTypedData(typedData)
    }
    if (method === 'eth_sendTransaction') {
      const sent = params[0] as Sent
      if (sent.chainId !== current) throw new Error('This is another chain')
      return send(sent, current)
    }
    if (hasCalls && method === 'wallet_getCapabilities')
      return Object.fromEntries((params[1] as Hex[]).map((chain) => [chain, {}]))
    if (callsStatus !== undefined && method === 'wallet_sendCalls') return { id: '0x01' }
    if (callsStatus !== undefined && method === 'wallet_getCallsStatus') return { status: callsStatus }
    if (hasCalls && method === 'wallet_sendCalls') {
      const { calls, chainId } = params[0] as Batch
      const [only] = calls
      if (!only || calls.length > 1) throw new Error('One call was expected')
      return { id: await send(only, chainId) }
    }
    throw new Refusal(4200, `The wallet does not do ${method}`)
  }

  await page.exposeFunction('askWallet', async (method: string, params: readonly unknown[] = []) => {
    asked.push(method)
    return answer(method, params).then(
      (result) => ({ result }),
      ({ code, message }: Refusal) => ({ error: { code, message } }),
    )
  })
  await page.addInitScript(() => {
    const ask = window.askWallet
    const provider = {
      async request({ method, params }: { method: string; params?: unknown }) {
        // The way to a wallet is JSON.
        const { result, error } = await ask(method, JSON.parse(JSON.stringify(params ?? [])))
        // As wallets do, it throws a plain object.
        if (error) throw error
        return result
      },
    }
    const detail = { info: { uuid: '1', name: 'Pocket', rdns: 'example.pocket', icon: '' }, provider }
    const announce = () => dispatchEvent(new CustomEvent('eip6963:announceProvider', { detail }))
    addEventListener('eip6963:requestProvider', announce)
  })
  return { asked, owner }
}

export const connect = async (page: Page, name: string): Promise<void> => {
  await page.getByRole('banner').getByRole('button', { name: 'Wallets' }).click()
  await page.getByRole('dialog').getByRole('button', { name }).click()
  await page.getByRole('dialog').waitFor({ state: 'detached' })
}
