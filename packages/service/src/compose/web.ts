import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { familyOf } from '../chains/families.ts'
import type { NetworkConfig, WebConfig } from '../config.ts'
import { readAssets, readLocalNetwork } from '../http/web/assets.ts'
import type { WebPage } from '../http/web/routes.ts'

// The output folder of `npm run build -w packages/web`.
const BUILT = fileURLToPath(new URL('../../../web/dist', import.meta.url))

/** The built page; undefined if it was not built, since the API does not need it. */
export function loadWeb(config: WebConfig = {}, chains: NetworkConfig['chains'] = []): WebPage | undefined {
  const { folder = BUILT, rpcUrls = {}, txUrls = {}, localFile } = config
  if (!existsSync(join(folder, 'index.html'))) return undefined
  const readLocal = localFile === undefined ? undefined : () => readLocalNetwork(localFile)
  return {
    assets: readAssets(folder),
    settings: { rpcUrls, txUrls, contracts: contractsOf(chains) },
    readLocal,
  }
}

/** The contracts that the page signs for. They come from the configuration, as the page itself does. */
function contractsOf(chains: NetworkConfig['chains']): WebPage['settings']['contracts'] {
  return Object.fromEntries(chains.map((chain) => [chain.chainId, familyOf(chain).pinsOf(chain)]))
}

/** The same page for the operator's listener, which is the only server it calls. */
export function toDashboard(page: WebPage | undefined, localKey: string | undefined): WebPage | undefined {
  return (
    page && {
      assets: page.assets,
      settings: { rpcUrls: {}, txUrls: {}, contracts: {} },
      operator: { localKey },
    }
  )
}
