import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts'
import { isGenuine, startReceiver } from '../../../packages/service/test/support/webhook-receiver.ts'
import { PASSPHRASE } from '../../cli.ts'
import { createApiClient } from '../../client.ts'
import { toRequest } from '../../world.ts'
import { type Month, restart, service } from './month.ts'
import { swapTo } from './swap-to.ts'

const AMOUNT = 10_000_000n
const apiKey = (month: Month, command: string) => month.type(`npm run -s api-key -- ${command}`)
const webhook = (month: Month, command: string) => month.type(`npm run -s webhook -- ${command}`)
const keyIn = (text: string) => /g[sp]k_\w+/.exec(text)?.[0] ?? ''
const asCaller = ({ processes }: Month, key: string) =>
  createApiClient({ apiUrl: processes.urlOf('api'), apiKey: key })

/** The status and code of a quote from alpha to beta. */
async function quoteOf(month: Month, { key = '', address = '' }): Promise<string> {
  const { alpha, beta, api } = month.world
  const order = { from: alpha, sell: 'USDC', to: beta, buy: 'USDC', amount: AMOUNT }
  const asked = toRequest({ address: address || privateKeyToAddress(generatePrivateKey()) }, order)
  const { status, body } = await (key ? asCaller(month, key) : api).quote(asked)
  return body.code === undefined ? `${status}` : `${status} ${body.code}`
}

async function becomes(month: Month, asked: Parameters<typeof quoteOf>[1], answer: string): Promise<void> {
  await month.until(`a quote is ${answer}`, async () => (await quoteOf(month, asked)) === answer)
  month.expects(`a quote is ${answer}`, true)
}

export async function manageKeys(month: Month): Promise<void> {
  const first = keyIn(await apiKey(month, 'create --name alice --network local'))
  const second = keyIn(await apiKey(month, 'create --name alice-2 --account alice --network local'))
  await apiKey(month, 'create --name shop-web --publishable --origin https://shop.example --rate 5')
  const { alpha, beta } = month.world
  const recipient = privateKeyToAddress(generatePrivateKey())
  const limits = `--max-swap-usd 5 --max-day-usd 1000 --recipient ${recipient}`
  const tokens = [alpha, beta].map((chain) => `--token ${chain.chainId}:${chain.token('USDC')}`).join(' ')
  const agent = keyIn(await apiKey(month, `create --name agent --network local ${limits} ${tokens}`))
  const listed = await apiKey(month, 'list --json')
  const idOf = (name: string) => idIn(listed, name)
  await becomes(month, { key: agent, address: recipient }, '422 KEY_LIMIT_EXCEEDED')
  await apiKey(month, `update ${idOf('agent')} --max-day-usd 500 --recipient none`)
  await apiKey(month, `revoke ${idOf('alice')}`)
  await becomes(month, { key: first }, '401 INVALID_API_KEY')
  await becomes(month, { key: second }, '200')
  const wallet = privateKeyToAddress(generatePrivateKey())
  const why = '--reason "floods us" --author operator'
  await service(month, `wallets freeze ${wallet} ${why}`)
  await service(month, 'wallets list')
  await service(month, `wallets unfreeze ${wallet} ${why}`)
  await sendEvents(month, second)
}

type Listed = { id: string; name: string; accountId: string }

function idIn(listed: string, name: string): string {
  const found = (JSON.parse(listed) as Listed[]).find((each) => each.name === name)
  if (!found) throw new Error(`No key ${name} in ${listed}`)
  return found.id
}

async function sendEvents(month: Month, key: string): Promise<void> {
  const receiver = await startReceiver()
  try {
    const begun = new Date().toISOString()
    await webhook(month, `add --account alice --url ${receiver.url}`)
    await swapTo(month, { to: month.world.beta, buy: 'USDC', world: { api: asCaller(month, key) } })
    await month.until('an event arrives', async () => receiver.received.length > 0)
    const [id = ''] = /whe[0-9a-f]+/.exec(await webhook(month, 'list')) ?? []
    const [secret = ''] = (await webhook(month, `rotate ${id}`)).split('\n')
    const before = receiver.received.length
    await webhook(month, `replay ${id} --since ${begun}`)
    const isAgain = async () => receiver.received.slice(before).some((one) => isGenuine(one, secret))
    await month.until('it arrives again, signed with the new secret', isAgain)
    await webhook(month, `enable ${id}`)
    await webhook(month, `remove ${id}`)
  } finally {
    await receiver.stop()
  }
}

/** A customer's own commands, as docs/going-live.md has them. */
export async function swapAsCustomer(month: Month): Promise<void> {
  const { network, processes, folder, world } = month
  const key = keyIn(await service(month, 'api-key create --name first --network local'))
  const env = {
    ...{ GEOSWAP_HOME: network.home, GEOSWAP_CLI_HOME: join(folder, 'customer') },
    ...{ GEOSWAP_PASSPHRASE: PASSPHRASE, GEOSWAP_URL: processes.urlOf('api'), GEOSWAP_API_KEY: key },
  }
  const { alpha, beta } = world
  for (const { name, chainId, rpcUrl } of world.local.chains)
    if (name === 'alpha') await month.type(`npx geoswap config set rpc.${chainId} ${rpcUrl}`, env)
  const made = await month.type('npx geoswap wallet create first', env)
  const [address = ''] = /0x[0-9a-fA-F]{40}/.exec(made) ?? []
  await world.fund(alpha, address as `0x${string}`, 'USDC', AMOUNT)
  await month.type('npx geoswap swap alpha:USDC beta:USDC --amount 10 --wallet first', env)
  const held = await beta.balanceOf(address as `0x${string}`, 'USDC')
  month.expects('the customer holds USDC on beta', held > 0n, `${held}`)
  month.moved('alpha', AMOUNT)
  month.moved('beta', -held)
}

export async function screen(month: Month): Promise<void> {
  const { folder } = month
  const [listed, chosen] = [generatePrivateKey(), generatePrivateKey()].map(privateKeyToAddress)
  const list = join(folder, 'sdn.txt')
  writeFileSync(list, `# version: ${new Date().toISOString()}\n${listed}\n`)
  await month.type(`openssl genpkey -algorithm ed25519 -out ${list}.key`)
  const publicKey = await month.type(
    `openssl pkey -in ${list}.key -pubout -outform DER | tail -c 32 | xxd -p -c 32`,
  )
  await month.type(`openssl pkeyutl -sign -rawin -inkey ${list}.key -in ${list} -out ${list}.sig`)
  const source = { name: 'ofac', kind: 'list', file: list, publicKey: publicKey.trim() }
  month.configure((config) => ({ ...config, screening: { sources: [source] } }))
  await restart(month, 'worker', 'api')
  const why = '--reason "counsel said so" --author operator'
  await becomes(month, { address: listed }, '403 ADDRESS_BLOCKED')
  await service(month, `screening allow ${listed} ${why}`)
  await becomes(month, { address: listed }, '200')
  await service(month, `screening deny ${chosen} ${why}`)
  await becomes(month, { address: chosen }, '403 ADDRESS_BLOCKED')
  await service(month, 'screening list')
  await service(month, `screening clear ${chosen} ${why}`)
  await becomes(month, { address: chosen }, '200')
}
