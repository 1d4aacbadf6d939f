import { randomBytes } from 'node:crypto'
import type { Hex } from 'viem'
import { createSealer, type JsonValue } from '../../packages/service/src/seal/sealer.ts'
import { fromSealed, toSealed } from '../../packages/service/src/swap/quote.ts'
import {
  isGenuine,
  type Receiver,
  startReceiver,
} from '../../packages/service/test/support/webhook-receiver.ts'
import { authorize, quoteOnceSettled, toRequest } from '../world.ts'
import { ends, isHealthy } from './checks.ts'
import { webhook } from './commands.ts'
import { type Journey, prepareJourney, startJourney } from './journeys.ts'
import type { Scene } from './scene.ts'

const AMOUNT = 10_000_000n
const GREED = 100n
const KEYS = 'GEOSWAP_SEAL_KEYS'

/** An attacker has the key that seals quotes, and an API key: they forge quotes. */
export async function sealingKeyLeaked(scene: Scene): Promise<void> {
  const receiver = await startReceiver()
  try {
    await play(scene, receiver)
  } finally {
    await receiver.stop()
  }
}

async function play(scene: Scene, receiver: Receiver): Promise<void> {
  const { processes } = scene
  const account = await accountOf(scene)
  const old = firstLine(await webhook(scene, 'add', '--account', account, '--url', receiver.url))
  const leaked = processes.secrets.api[KEYS] ?? ''
  const underway = await startJourney(scene, 'alpha', 'beta')
  const built = await prepareJourney(scene, 'alpha', 'beta')
  scene.happens(`somebody has the seal key, and quotes themselves ${GREED} times the output; one swap is on its way,
one is built and not submitted`)

  const attacker = await createAttacker(scene, { leaked, account })
  const { status, body } = await attacker.build()
  scene.sees(`POST /swap/build-geo-op with a forged quote: ${status}. No alarm tells of a leaked key`)
  const stolen = await attacker.submit(body)
  await ends(scene, {
    what: 'what the attacker submitted, by the worker’s own look at the price,',
    journey: stolen,
    end: 'failed',
  })
  await ends(scene, { what: 'the swap that was on its way', journey: underway, end: 'settled' })

  processes.secrets.api[KEYS] = `new1:${randomBytes(32).toString('hex')}`
  scene.does(`${KEYS}: the leaked key is replaced; the API restarts`)
  await processes.restart('api')
  const endpoint = /whe[0-9a-f]+/.exec(await webhook(scene, 'list'))?.[0] ?? ''
  const secret = firstLine(await webhook(scene, 'rotate', endpoint))

  const again = await attacker.build()
  scene.expects(
    'a forged quote is refused: 401 INVALID_TOKEN',
    again.status === 401 && again.body.code === 'INVALID_TOKEN',
    `${again.status} ${again.body.code}`,
  )
  const refused = await built.submit().then(String, (error: Error) => error.message)
  scene.expects(
    'so is what was built before: its caller quotes again',
    refused.startsWith('submit: 401'),
    refused,
  )
  scene.expects(
    'the stored secret of the webhook does not open with the leaked key',
    !(await opensStored(scene, leaked)),
  )
  receiver.received.splice(0)
  await isHealthy(scene)
  const isSigned = async () => receiver.received.some((one) => isGenuine(one, secret))
  await scene.until('a webhook signed with the new secret', isSigned)
  const isBurnt = receiver.received.every((one) => !isGenuine(one, old))
  scene.expects('webhooks are signed with the new secret, and no longer with the old one', isBurnt)
}

const firstLine = (text: string) => text.split('\n')[0] ?? ''

async function accountOf({ query }: Scene): Promise<string> {
  const [row] = await query<{ id: string }>('select account_id as id from api_keys')
  return row?.id ?? ''
}

function sealerOf(leaked: string) {
  const [id = '', key = ''] = leaked.split(':')
  return createSealer({ keys: [{ id, key: Buffer.from(key, 'hex') }] })
}

/** An attacker with the key and an API key: they open their own quote and seal better terms. */
async function createAttacker({ world }: Scene, { leaked, account }: { leaked: string; account: string }) {
  const { api, alpha, beta } = world
  const sealer = sealerOf(leaked)
  const wallet = await world.walletWith(alpha, 'USDC', AMOUNT)
  const order = { from: alpha, sell: 'USDC', to: beta, buy: 'USDC', amount: AMOUNT }
  const { geoQuoteToken } = await quoteOnceSettled(api, toRequest(wallet, order))
  const honest = fromSealed(sealer.open('quote', account, geoQuoteToken))
  const authorization = await authorize(api, wallet, alpha.chainId)

  async function build() {
    const greedy = {
      amountOut: honest.amountOut * GREED,
      payAmount: honest.payAmount * GREED,
      priceFloor: 0n,
    }
    const forged = {
      ...honest,
      ...greedy,
      id: randomBytes(16).toString('hex'),
      expiresAt: Date.now() + 30_000,
    }
    const token = sealer.seal('quote', account, toSealed(forged) as unknown as JsonValue)
    return api.build({ geoQuoteToken: token, ...(authorization && { authorization }) })
  }

  /** Signs with the attacker's own wallet and submits. */
  async function submit({
    geoOpHash,
    geoOpToken,
  }: {
    geoOpHash: string
    geoOpToken: string
  }): Promise<Journey> {
    const signature = await wallet.signMessage({ message: { raw: geoOpHash as Hex } })
    const { status, body } = await api.submit({ geoOpToken, signature })
    if (status !== 200) throw new Error(`submit: ${status} ${body.code} ${body.message}`)
    const paid = () => beta.balanceOf(wallet.address, 'USDC')
    const left = () => alpha.balanceOf(wallet.address, 'USDC')
    const read = async () => ({ paid: await paid(), left: await left() })
    const named = { opHash: geoOpHash, operation: {}, locker: '', output: honest.amountOut }
    return { ...named, submit: async () => body.swapId, read }
  }

  return { build, submit }
}

async function opensStored({ query }: Scene, leaked: string): Promise<boolean> {
  const rows = await query<{ account_id: string; secret: string }>(
    'select account_id, secret from webhook_endpoints',
  )
  return rows.some(({ account_id, secret }) => {
    try {
      return sealerOf(leaked).open('webhook', account_id, secret) !== undefined
    } catch {
      return false
    }
  })
}
