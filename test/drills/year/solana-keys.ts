import { join } from 'node:path'
import { formatUnits } from 'viem'
import { solanaIn } from './adding.ts'
import { type Month, quiet, restart, service } from './month.ts'
import { swapTo } from './swap-to.ts'

const SOL = 10n ** 9n
const LEFT_SOL = SOL / 100n

/** Vault, attester and fee payers of Solana, as docs/operations/keys.md says. */
export async function rotateSolana(month: Month): Promise<void> {
  const { solana, folder } = month
  const old = solanaIn(month)
  await service(month, 'pause --chain solana --note "new keys"')
  await quiet(month)
  const make = async (role: string, part: string) =>
    (await service(month, `keys generate --role ${role} --out ${join(folder, 'keystore', part)}`)).trim()
  const vault = await make('inventory', 'worker')
  const feePayers = {
    input: await make('fee-input', 'worker'),
    delivery: await make('fee-delivery', 'worker'),
  }
  const attester = await make('solana-attester', 'attester')
  // The key of the old vault signs.
  const env = { GEOSWAP_KEYSTORE: join(folder, 'keystore', 'worker'), GEOSWAP_TREASURY_KEY: '' }
  for (const { symbol, address, decimals } of old.tokens)
    await move(month, {
      symbol,
      amount: formatUnits(await solana.balanceOf(old.vault, address), decimals),
      to: vault,
      env,
    })
  const coins = await solana.balanceOf(old.vault, '11111111111111111111111111111111')
  await move(month, { symbol: 'SOL', amount: formatUnits(coins - LEFT_SOL, 9), to: vault, env })
  month.configure((config) => ({
    ...config,
    chains: config.chains.map((chain) =>
      chain.family === 'solana' ? { ...chain, vault, attester, feePayers } : chain,
    ),
  }))
  await service(month, 'deploy --chain solana')
  await service(month, 'fund apply')
  await restart(month)
  await service(month, 'resume --chain solana --note "new keys"')
  month.traffic.resume()
  await swapTo(month, { to: solana, buy: 'USDC' })
  const stops = await service(month, 'stops --json')
  month.expects('nothing is stopped', stops.trim() === '[]', stops)
}

type Moved = { symbol: string; amount: string; to: string; env: Record<string, string> }

async function move(month: Month, { symbol, amount, to, env }: Moved): Promise<void> {
  const command = `inventory withdraw --chain solana --token ${symbol} --amount ${amount} --to ${to}`
  const preview = await service(month, command, env)
  const [, once = ''] = /--once (\w+)/.exec(preview) ?? []
  await service(month, `${command} --once ${once} --yes`, env)
}
