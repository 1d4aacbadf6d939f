import type { ComponentChildren } from 'preact'
import { useEffect } from 'preact/hooks'
import { NavLink } from './parts/links.tsx'
import { Notice } from './parts/notice.tsx'
import { basePath, hrefOf, useObservable, useRoute } from './route.ts'
import { isReachable } from './service/client.ts'
import { views } from './views.ts'
import { ConnectWallet } from './wallets/connect-wallet.tsx'
import type { Wallets } from './wallets/use-wallets.ts'

type Props = {
  children: ComponentChildren
  onLeave?: (() => void) | undefined
  wallets?: Wallets | undefined
  /** The entries of the menu; by default those for callers. */
  menu?: readonly { name: string; title: string }[]
}

/** The frame around every view. */
export function Shell({ children, onLeave, wallets, menu = views }: Props) {
  const { view } = useRoute()
  const isOnline = useObservable(isReachable)
  const title = (menu.find(({ name }) => name === view) ?? (menu === views ? undefined : menu[0]))?.title
  useEffect(() => {
    document.title = title ? `${title} · geoswap` : 'geoswap'
  }, [title])
  return (
    <>
      <a class="skip" href="#main">
        Skip to the content
      </a>
      <header class="top">
        <NavLink href={hrefOf(menu[0]?.name ?? 'swap')} class="brand">
          geoswap
        </NavLink>
        <nav aria-label="Parts of this page">
          {menu.map(({ name, title }) => (
            <NavLink key={name} href={hrefOf(name)} isCurrent={name === view}>
              {title}
            </NavLink>
          ))}
          {menu === views && <a href={`${basePath}/docs/`}>API</a>}
        </nav>
        {wallets && <ConnectWallet wallets={wallets} />}
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
              <strong>The service cannot be reached.</strong> Retrying. Submitted swaps continue without this
              page.
            </p>
          </Notice>
        )}
        {children}
      </main>
    </>
  )
}
