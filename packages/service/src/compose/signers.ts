import type { Registry } from 'prom-client'
import { every } from '../async/timing.ts'
import { askEach, families } from '../chains/families.ts'
import type { Signer } from '../chains/family.ts'
import type { Config } from '../config.ts'
import { mapOwn } from '../isolate.ts'
import type { Logger } from '../observe/logger.ts'
import { addSignerMetrics } from '../observe/role-metrics.ts'
import { addressesFor, openServer, type SignerServer } from '../signers/web3signer.ts'
import type { UnsignedKeys } from '../swap/served-chain.ts'
import { assertOutsideTransaction, type Signers as SignersOf } from './chains.ts'

const CHECK_MS = 5_000

type Signers = {
  all: readonly Signer[]
  byFamily: SignersOf
  /** The addresses that cannot be signed for now. */
  unsigned(): UnsignedKeys
  /** Checks the remote signers from now on. One that is away is asked again; one that lacks a key is refused. */
  start(): Promise<void>
  stop(): void
}

/** With its place in the configuration, from 1. */
type PlacedServer = SignerServer & { place: number }

type Opened = {
  /** Addresses that the process signs for. */
  addresses: readonly string[]
  logger: Logger
  registry: Registry
}

/** The signers of a process: its own keys, and remote signers for the other addresses. */
export async function openSigners(config: Config, { addresses, logger, registry }: Opened): Promise<Signers> {
  const { network, signerTls } = config
  const down = new Set<string>()
  const servers = network.remoteSigners.flatMap((server, index): PlacedServer[] => {
    const mine = addressesFor(server, addresses)
    if (mine.length === 0) return []
    const clientTls = signerTls?.reveal()
    const opened = openServer(server, mine, { clientTls, assertOutsideTransaction, onAnswer })
    return [{ ...opened, place: index + 1 }]
  })
  const { countFault } = addSignerMetrics(registry, servers)
  const remote = servers.flatMap((server) => families.flatMap(({ name }): readonly Signer[] => server[name]))
  const isRemote = (address: string) => remote.some((signer) => signer.address === address)
  const opened = await mapOwn(families, async ({ name, keys: { open } }) => {
    const own = await mapOwn(config.keys[name] ?? [], async (key) => open(key.reveal()))
    const local = own.filter(({ address }) => !isRemote(address))
    const away = servers.flatMap((server): readonly Signer[] => server[name])
    return [name, [...local, ...away]] as const
  })
  const cosigners = askEach(network.chains, ({ keys }, own) => keys.cosignersOf?.(own) ?? [])
  let checks: { stop(): void } | undefined

  function onAnswer(signer: string, error?: { fault: string; message: string }): void {
    const server = servers.find(({ name }) => name === signer)
    if (error && server) countFault(server.place, error.fault)
    const why = server?.problem()
    if (why !== undefined && !down.has(signer)) logger.error({ signer, why }, 'signer does not sign')
    if (why === undefined && down.has(signer)) logger.info({ signer }, 'signer signs again')
    if (why === undefined) down.delete(signer)
    else down.add(signer)
  }

  return {
    all: opened.flatMap(([, signers]) => signers),
    byFamily: Object.fromEntries(opened),
    unsigned() {
      const silent = new Map(
        servers.flatMap(({ place, silent }) => silent().map((address) => [address, place] as const)),
      )
      for (const [sender, cosigner] of cosigners) {
        const place = silent.get(cosigner)
        if (place !== undefined && !silent.has(sender)) silent.set(sender, place)
      }
      return Object.fromEntries(silent)
    },
    async start() {
      await mapOwn(servers, ({ check }) => check())
      const checkAll = () => Promise.allSettled(servers.map(({ check }) => check())).then(() => {})
      if (servers.length > 0) checks = every(CHECK_MS, checkAll)
    },
    stop: () => checks?.stop(),
  }
}
