import { join } from 'node:path/posix'

type Manifest = Readonly<Record<string, unknown>>

// Dependencies are bundled; the rest is of use in the repository alone.
const OWN = ['private', 'scripts', 'dependencies', 'devDependencies', 'published']

/** The manifest of a package as it is published: the fields of `published` replace those of the repository. */
export function toManifest(own: Manifest, repository: Manifest, directory: string): Manifest {
  const kept = Object.entries(own).filter(([name]) => !OWN.includes(name))
  const published = own['published'] as Manifest
  const publishConfig = { access: 'public' }
  return {
    ...Object.fromEntries(kept),
    repository: { ...repository, directory },
    publishConfig,
    ...published,
  }
}

/** Relative links of a README become links into the repository, since only the README is published. */
export function toReadme(text: string, repositoryUrl: string, directory: string): string {
  const base = `${repositoryUrl.replace(/^git\+/, '').replace(/\.git$/, '')}/blob/main`
  return text.replaceAll(
    /\]\((?!https?:|#)([^)\s]+)\)/g,
    (_, link: string) => `](${base}/${join(directory, link)})`,
  )
}
