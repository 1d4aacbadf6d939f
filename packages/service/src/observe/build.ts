import { readFileSync } from 'node:fs'

// The built file has the commit that it was built from: scripts/build.ts.
declare const GEOSWAP_COMMIT: string | undefined

/** The version of the service, and the commit of the built file if it was known. */
export function readBuild(): { version: string; commit: string } {
  const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))
  return { version, commit: typeof GEOSWAP_COMMIT === 'string' ? GEOSWAP_COMMIT : 'unknown' }
}

export function describeBuild(): string {
  const { version, commit } = readBuild()
  return `geoswap service ${version} (commit ${commit})`
}
