import type { ComponentChildren } from 'preact'
import { useEffect } from 'preact/hooks'
import { useObservable } from './observable.ts'
import { NavLink } from './parts/nav-link.tsx'
import { Notice } from './parts/notice.tsx'
import { basePath, hrefOf, useRoute } from './route.ts'
import { isReachable } from './service/client.ts'
import { views } from './views.ts'

type Props = { children: ComponentChildren; onLeave?: (() => void) | undefined }

/** What stands around every view. */
export function Shell({ children, onLeave }: Props) {
  const { view } = useRoute()
  const isOnline = useObservable(isReachable)
  const title = views.find(({ name }) => name === view)?.title
  useEffect(() => {
    document.title = title ? `${title} · geoswap` : 'geoswap'
  }, [title])
  return (
    <>
      <a class="skip" href="#main">
        Skip to the content
      </a>
      <header class="top">
        <NavLink href={hrefOf('swap')} class="brand">
          geoswap
        </NavLink>
        <nav aria-label="Parts of this page">
          {views.map(({ name, title }) => (
            <NavLink key={name} href={hrefOf(name)} isCurrent={name === view}>
              {title}
            </NavLink>
          ))}
          <a href={`${basePath}/docs/`}>API</a>
        </nav>
        {onLeave && (
          <button type="button" class="quiet" onClick={onLeave}>
            Forget key
          </button>
        )}
      </header>
      <main id="main" tabIndex={-1}>
        {!isOnline && (
          <Notice tone="warn">
            <p>
              <strong>The service cannot be reached.</strong> Trying again. What was submitted goes on without
              this page.
            </p>
          </Notice>
        )}
        {children}
      </main>
    </>
  )
}
