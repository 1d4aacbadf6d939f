import { join } from 'node:path'
import { startPostgres } from '@geoswap/devnet'
import { emptyServer } from '../go-live/go-live.ts'
import { operatorEnv } from '../npm-run.ts'
import { ROLES } from '../processes.ts'
import { asOwner, isReady, type Month, PATIENT_MS, restart, service } from './month.ts'
import { swapTo } from './swap-to.ts'
import { openTerminal } from './terminal.ts'

/** Everything for a second operator, up to its database, on another server. */
export async function preparesAnother(month: Month): Promise<void> {
  const { folder, network } = month
  const out = join(folder, 'second')
  const nodes = '--node base=http://127.0.0.1:9 --attester-node base=http://127.0.0.1:9'
  const treasury = network.keys.keeper.address
  await service(month, `setup --chains base --treasury ${treasury} ${nodes} --out ${out}`)
  await service(month, `check-config ${out}/geoswap.json`)
  await service(month, `init --chains base,arbitrum --out ${join(folder, 'init.json')}`)
  const postgres = await startPostgres({ dir: join(folder, 'postgres') })
  try {
    const admin = await emptyServer(postgres.url)
    await month.type(`psql -q -v ON_ERROR_STOP=1 -f ${out}/secrets/roles.sql ${admin}`)
  } finally {
    await postgres.stop()
  }
}

/** As docs/operations/upgrades.md says, from this version to this version. */
export async function upgrade(month: Month): Promise<void> {
  const { folder, network } = month
  const dump = join(folder, 'geoswap.dump')
  await month.type(`pg_dump -Fc ${network.databaseUrl} > ${dump}`)
  await month.type('npm run build -w packages/service')
  await asOwner(month, 'migrate')
  await restart(month, 'worker', 'attester', 'api')
  await restoreBeside(month, dump)
}

/** Into a database of its own, where nobody sends anything. */
async function restoreBeside({ network, type, query, expects }: Month, dump: string): Promise<void> {
  const url = new URL(network.databaseUrl)
  await query('create database geoswap_beside')
  url.pathname = '/geoswap_beside'
  await type(`pg_restore -d ${url.href} ${dump}`)
  const count = await type(`psql -tA -c "select count(*) from swaps" ${url.href}`)
  expects('the dump has swaps', Number(count) > 0, count)
  await query('drop database geoswap_beside')
}

/** The primary dies while swaps run, and its standby has every commit. */
export async function losePrimary(month: Month): Promise<void> {
  const { archive, processes } = month
  if (!archive) throw new Error('Without an archive')
  month.typed.push('pg_basebackup -R')
  await archive.failOver()
  month.happens('the primary is lost; its standby is promoted, and gets its address')
  await Promise.all(ROLES.map((role) => processes.stop(role)))
  await Promise.all(ROLES.map((role) => processes.start(role)))
  await isReady(month)
  month.does('all processes are started again: the standby lacks nothing')
  await swapTo(month, { to: month.world.beta, buy: 'USDC' })
}

/** The last database is lost too, with the log of its last seconds. */
export async function restore(month: Month): Promise<void> {
  const { archive, processes, typed, traffic } = month
  if (!archive) throw new Error('Without an archive')
  await archive.backUp('full')
  typed.push('pgbackrest --stanza=geoswap stanza-create', 'pgbackrest --stanza=geoswap restore')
  month.does('pgbackrest --stanza=geoswap --type=full backup, while swaps run')
  const before = traffic.made.length
  await month.until('swaps since the backup', async () => traffic.made.length > before + 6, PATIENT_MS)
  await traffic.pause()
  await Promise.all(ROLES.map((role) => processes.stop(role, 'SIGKILL')))
  await archive.lose()
  month.happens('the machine of the database is lost with its disk')
  await archive.restore()
  month.does('pgbackrest --stanza=geoswap restore, and the server is started')
  await asOwner(month, 'migrate')
  await asOwner(month, 'rebuild --from alpha:1')
  await Promise.all(ROLES.map((role) => processes.start(role)))
  await isReady(month)
  traffic.resume()
  await swapTo(month, { to: month.world.beta, buy: 'USDC' })
}

/** All processes as children of one, for a while. */
export async function runAsOne(month: Month): Promise<void> {
  const { processes, network, typed } = month
  const { api, worker, attester } = processes.secrets
  const named = (role: string, secrets: Record<string, string>) =>
    Object.fromEntries(
      Object.entries(secrets).map(([name, value]) => [
        name.replace('GEOSWAP_KEYSTORE', `GEOSWAP_${role}_KEYSTORE`),
        value,
      ]),
    )
  const urls = {
    GEOSWAP_API_DATABASE_URL: network.databaseUrls.api,
    GEOSWAP_WORKER_DATABASE_URL: network.databaseUrls.worker,
    GEOSWAP_ATTESTER_DATABASE_URL: network.databaseUrls.attester,
  }
  const env = {
    ...operatorEnv(network),
    ...urls,
    ...api,
    ...named('WORKER', worker),
    ...named('ATTESTER', attester),
  }
  const filled = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== ''))
  await Promise.all(ROLES.map((role) => processes.stop(role)))
  const terminal = openTerminal(month, { ...filled, PORT: new URL(processes.urlOf('api')).port })
  try {
    const command = 'npm run -s service -- all'
    typed.push(command)
    await terminal.leave(command, /api ready/)
    await isReady(month)
    await swapTo(month, { to: month.world.beta, buy: 'USDC' })
  } finally {
    await terminal.stop()
  }
  await Promise.all(ROLES.map((role) => processes.start(role)))
  await isReady(month)
}
