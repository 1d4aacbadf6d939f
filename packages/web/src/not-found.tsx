import { NavLink } from './parts/nav-link.tsx'
import { hrefOf } from './route.ts'

/** An address that no view has. */
export function NotFound() {
  return (
    <section class="card narrow">
      <h1>There is nothing here</h1>
      <p class="prose">This address belongs to no part of the page. A swap is found by its id in Explore.</p>
      <div class="actions">
        <NavLink href={hrefOf('swap')} class="button primary">
          Go to the swap
        </NavLink>
        <NavLink href={hrefOf('explore')} class="button secondary">
          Explore
        </NavLink>
      </div>
    </section>
  )
}
