import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Address, type Hex, parseTransaction, type TransactionSerializable } from 'viem'
import { generatePrivateKey, privateKeyToAccount, privateKeyToAddress } from 'viem/accounts'
import { findFreePort } from '../../../packages/devnet/src/ports.ts'
import { advance, type Month, quiet, restart, service } from './month.ts'
import { swapTo } from './swap-to.ts'

const GAS = 10n ** 18n
const DAY = 24 * 3_600
const PATIENT_MS = 300_000
const RELAYERS = 'GEOSWAP_RELAYER_KEYS'
const DELIVERERS = 'GEOSWAP_DELIVERER_KEYS'

type Kind = 'relayers' | 'authorizationRelayers' | 'deliverers'
const VARIABLES = { relayers: RELAYERS, authorizationRelayers: RELAYERS, deliverers: DELIVERERS }

/** The first key of each list, the gas float and the guardian, while swaps run. */
export async function rotateSenders(month: Month): Promise<void> {
  const { processes, network, world } = month
  const kinds: Kind[] = ['relayers', 'authorizationRelayers', 'deliverers']
  const old = new Map(kinds.map((kind) => [kind, network.keys[kind][0]] as const))
  const guardian = generatePrivateKey()
  const float = generatePrivateKey()
  month.configure((config) => {
    const lists = kinds.map((kind) => {
      const added = generatePrivateKey()
      processes.secrets.worker[VARIABLES[kind]] += `,${added}`
      return [kind, [...config[kind], privateKeyToAddress(added)]] as const
    })
    const retiring = [...old.values()].map((key) => key?.address)
    const chains = world.chains.map(({ chainId }) => ({
      ...{ chainId, low: '0.02', target: '0.1', maxPerDay: '0.5' },
    }))
    const gasFloat = { evm: privateKeyToAddress(float), chains }
    return {
      ...config,
      ...Object.fromEntries(lists),
      retiring,
      gasFloat,
      guardian: privateKeyToAddress(guardian),
    }
  })
  processes.secrets.worker['GEOSWAP_FLOAT_KEY'] = float
  for (const chain of world.chains)
    for (const key of [float, guardian]) await world.fund(chain, privateKeyToAddress(key), 'ETH', GAS)
  await service(month, 'fund plan')
  await service(month, 'fund apply')
  await signElsewhere(month)
  await restart(month, 'worker', 'api')
  const senders = [...old.values()].map((key) => key?.address.toLowerCase())
  const isDone = async () => {
    const open = await month.query(
      'select 1 from tx_attempts where lower(sender) = any($1) and final_at is null limit 1',
      [senders],
    )
    return open.length === 0
  }
  await month.until('the retiring keys have nothing open', isDone, PATIENT_MS)
  month.configure(({ retiring: _, ...config }: ReturnType<Month['readConfig']> & { retiring?: unknown }) => {
    const isKept = (address: string) => !senders.includes(address.toLowerCase())
    return { ...config, ...Object.fromEntries(kinds.map((kind) => [kind, config[kind].filter(isKept)])) }
  })
  for (const [kind, key] of old) {
    const name = VARIABLES[kind]
    const kept = processes.secrets.worker[name]?.split(',').filter((each) => each !== key?.privateKey)
    processes.secrets.worker[name] = (kept ?? []).join(',')
  }
  await restart(month, 'worker', 'api')
  await service(month, `treasury apply --revoke ${old.get('deliverers')?.address}`)
  await lowerByGuardian(month, guardian)
  await swapTo(month, { to: world.beta, buy: 'USDC' })
}

type Exported = { transactions: { unsigned: Hex }[] }

/** The treasury's calls, signed by a wallet that this machine does not know. */
async function signElsewhere(month: Month): Promise<void> {
  const [calls, signed] = ['calls.json', 'signed.txt'].map((name) => join(month.folder, name))
  await service(month, `treasury plan --export ${calls}`)
  const { transactions }: Exported = JSON.parse(readFileSync(calls ?? '', 'utf8'))
  const wallet = privateKeyToAccount(month.network.keys.treasury.privateKey)
  const lines: string[] = []
  for (const { unsigned } of transactions)
    lines.push(await wallet.signTransaction(parseTransaction(unsigned) as TransactionSerializable))
  writeFileSync(signed ?? '', `${lines.join('\n')}\n`)
  month.does(`a wallet elsewhere signs ${lines.length} transactions`)
  await service(month, `send-signed ${calls} ${signed}`)
}

/** A cap of the person on call, who has no other right. */
async function lowerByGuardian(month: Month, key: Hex): Promise<void> {
  month.configure((config) => ({
    ...config,
    chains: config.chains.map((chain) => ({
      ...chain,
      tokens: chain.tokens.map((token) =>
        chain.name === 'beta' && token.symbol === 'WETH' ? { ...token, capPerHour: '100' } : token,
      ),
    })),
  }))
  await service(month, 'treasury apply --guardian', { GEOSWAP_GUARDIAN_KEY: key })
  const { guardian: old, ...rest } = month.readConfig() as ReturnType<Month['readConfig']> & {
    guardian: Address
  }
  month.configure(() => rest)
  await service(month, `treasury apply --revoke ${old}`)
}

/** Seal and operator keys, in three restarts of the API. */
export async function rotateApiKeys(month: Month): Promise<void> {
  const { processes, network } = month
  const { api } = processes.secrets
  const out = join(month.folder, 'seal')
  const file = await service(month, `keys generate --role seal --out ${out}`)
  const added = readFileSync(file.trim(), 'utf8').trim()
  const old = api['GEOSWAP_SEAL_KEYS'] ?? ''
  const operator: string[] = []
  for (const name of ['one', 'two']) {
    const path = join(month.folder, `operator-${name}`)
    await month.type(`openssl rand -hex 32 > ${path}`)
    operator.push(readFileSync(path, 'utf8').trim())
  }
  const port = await findFreePort()
  Object.assign(api, {
    GEOSWAP_OPERATOR_PORT: String(port),
    GEOSWAP_DASHBOARD_DATABASE_URL: network.databaseUrls.dashboard,
  })
  const isKnown = async (key: string | undefined) => {
    const reply = await fetch(`http://127.0.0.1:${port}/operate/overview`, {
      headers: { 'x-operator-key': key ?? '' },
    })
    await reply.body?.cancel()
    return reply.status !== 401
  }
  const steps = [
    { seal: `${old},${added}`, keys: operator, known: [true, true] },
    { seal: `${added},${old}`, keys: operator.slice(1), known: [false, true] },
    { seal: added, keys: operator.slice(1), known: [false, true] },
  ]
  for (const { seal, keys, known } of steps) {
    Object.assign(api, { GEOSWAP_SEAL_KEYS: seal, GEOSWAP_OPERATOR_KEYS: keys.join(',') })
    await restart(month, 'api')
    const found = [await isKnown(operator[0]), await isKnown(operator[1])]
    month.expects(`the operator keys are known: ${known}`, `${found}` === `${known}`, `${found}`)
  }
}

/** A new set of 1 of 1, as after a change of the machine. */
export async function rotateAttesters(month: Month): Promise<void> {
  const { processes, query } = month
  const added = generatePrivateKey()
  const next = { members: [privateKeyToAddress(added)], threshold: 1 }
  const { attester } = processes.secrets
  const old = attester['GEOSWAP_ATTESTER_KEY']
  month.configure((config) => ({ ...config, nextAttesters: next }))
  await service(month, 'treasury plan')
  await service(month, 'treasury apply')
  attester['GEOSWAP_ATTESTER_KEY'] = `${old},${added}`
  await restart(month, 'worker', 'api', 'attester')
  await quiet(month)
  await advance(month, DAY, 'a day passes')
  await service(month, 'treasury apply')
  await advance(month, 7 * DAY, 'seven more days pass')
  month.traffic.resume()
  await swapTo(month, { to: month.world.beta, buy: 'USDC' })
  await quiet(month)
  attester['GEOSWAP_ATTESTER_KEY'] = added
  month.configure(
    ({ nextAttesters: _, ...config }: ReturnType<Month['readConfig']> & { nextAttesters?: unknown }) => ({
      ...config,
      attesters: next,
    }),
  )
  await restart(month)
  month.traffic.resume()
  const [row] = await query<{ count: number }>('select count(*)::int as count from swaps')
  month.sees(`${row?.count} swaps so far`)
  await swapTo(month, { to: month.world.beta, buy: 'USDC' })
}
