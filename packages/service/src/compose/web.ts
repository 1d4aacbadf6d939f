import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { WebConfig } from '../config.ts'
import { readAssets } from '../http/web/assets.ts'
import { readLocalNetwork } from '../http/web/local-network.ts'
import type { WebPage } from '../http/web/routes.ts'

// Where `npm run build -w packages/web` writes it.
const BUILT = fileURLToPath(new URL('../../../web/dist', import.meta.url))

/** The page as it was built, or undefined where nobody built it: the API needs none. */
export function loadWeb(config: WebConfig = {}): WebPage | undefined {
  const { folder = BUILT, rpcUrls = {}, txUrls = {}, localFile } = config
  if (!existsSync(join(folder, 'index.html'))) return undefined
  const readLocal = localFile === undefined ? undefined : () => readLocalNetwork(localFile)
  return { assets: readAssets(folder), settings: { rpcUrls, txUrls }, readLocal }
}

/** The same page as the operator's listener shows it: it calls that listener and nobody else. */
export function toDashboard(page: WebPage | undefined, localKey: string | undefined): WebPage | undefined {
  return page && { assets: page.assets, settings: { rpcUrls: {}, txUrls: {} }, operator: { localKey } }
}
