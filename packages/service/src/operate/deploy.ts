import { isAddress } from 'viem'
import { type Env, type Output, parseFlags, UsageError } from '../command.ts'
import { byFamily } from './families.ts'
import { withContracts } from './family.ts'
import { readChosen } from './served.ts'

export const DEPLOY_HELP = `deploy [--config FILE] [--chain NAME]
      [--dry-run | --verify-only | --export FILE --from ADDRESS] [--final] [--accept-treasury]
      Creates the contracts, and the adapters of venues that buy, on every EVM chain of the file, at its addresses.
      Existing contracts stay. Paid by GEOSWAP_DEPLOYER_KEY, or by the deployer of GEOSWAP_KEYSTORE, which gets no
      rights and must have no other role in the file. --dry-run needs no key, sends nothing, and estimates the cost.
      --verify-only compares code hashes: exit code 1 if one differs. A treasury whose code differs between chains is
      refused, unless --accept-treasury says that you control it on each.
      --export writes the missing creations on EVM chains as unsigned transactions of that deployer, for a wallet
      elsewhere, which service send-signed sends.
      On Solana it uploads the escrow program to its address in the file and creates the vault's token accounts, paid by
      GEOSWAP_SOLANA_DEPLOYER_KEY and signed by GEOSWAP_SOLANA_PROGRAM_KEY, or by the keys solana-deployer and
      solana-program of GEOSWAP_KEYSTORE. The deployer can change the program until --final, after which nobody can.`

const NEXT_STEPS = `Next: service fund plan shows the gas that each key needs, service treasury plan the calls of the
treasury, service doctor all that is still missing.`

export async function deploy(args: string[], env: Env, output: Output): Promise<number> {
  const { config, chain: only, ...asked } = parse(args)
  const { network } = readChosen(env, config)
  const chosen = network.chains.filter((chain) => !only || chain.name === only)
  if (chosen.length === 0) throw new UsageError(`Unknown chain ${only}.`)
  let isRight = true
  const deployed = asked.mode === 'export' ? withContracts(chosen) : chosen
  for (const { operate, chains } of byFamily(deployed))
    isRight = (await operate.deploy(chains, { network, ...asked, env, output })) && isRight
  if (asked.mode === 'deploy' && isRight) output.hint(NEXT_STEPS)
  return isRight ? 0 : 1
}

function parse(args: string[]) {
  const { values } = parseFlags({
    args,
    options: {
      config: { type: 'string' },
      chain: { type: 'string' },
      export: { type: 'string' },
      from: { type: 'string' },
      'dry-run': { type: 'boolean' },
      'verify-only': { type: 'boolean' },
      final: { type: 'boolean', default: false },
      'accept-treasury': { type: 'boolean', default: false },
    },
  })
  const { config, chain } = values
  const modes = (['dry-run', 'verify-only', 'export'] as const).filter((name) => values[name])
  if (modes.length > 1) throw new UsageError(`Use one of --${modes.join(', --')}.`)
  const [mode = 'deploy' as const] = modes
  const { export: file, from } = values
  if (file !== undefined && !(from && isAddress(from)))
    throw new UsageError('--export needs --from, the address of the deployer.')
  const exported = file !== undefined && from ? { file, from } : undefined
  return { config, chain, mode, exported, isFinal: values.final, acceptsTreasury: values['accept-treasury'] }
}
