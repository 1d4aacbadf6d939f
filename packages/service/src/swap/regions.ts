/** Which assets are not quoted in which regions. */
export type RegionRules = {
  refused: readonly { region: string; assets: readonly string[] }[]
  /** Default: refuse. */
  withoutRegion?: 'allow' | 'refuse'
}

const REGION = /^[A-Z0-9-]{1,16}$/

/** The region in a header of the operator's proxy; undefined for anything else than one. */
export function toRegion(header: string | readonly string[] | undefined): string | undefined {
  const text = typeof header === 'string' ? header.trim().toUpperCase() : ''
  return REGION.test(text) ? text : undefined
}

/** The first of these assets that is not quoted in a region. A region covers its parts: XX also XX-YY. */
export function findRefusedAsset(
  { refused, withoutRegion = 'refuse' }: RegionRules,
  region: string | undefined,
  assets: readonly string[],
): string | undefined {
  const isMeant = (rule: { region: string }) =>
    region === undefined
      ? withoutRegion === 'refuse'
      : region === rule.region || region.startsWith(`${rule.region}-`)
  const rules = refused.filter(isMeant)
  return assets.find((asset) => rules.some((rule) => rule.assets.length === 0 || rule.assets.includes(asset)))
}
