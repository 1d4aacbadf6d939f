// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// @title IUniswapV3Factory
/// @notice What the adapter asks of a Uniswap V3 factory.
interface IUniswapV3Factory {
    /// @notice The pool of two tokens, in either order, at a fee; the zero address when there is none.
    /// @param tokenA One token.
    /// @param tokenB The other.
    /// @param fee In millionths.
    function getPool(address tokenA, address tokenB, uint24 fee) external view returns (address pool);
}

/// @title IUniswapV3Pool
/// @notice What the adapter asks of a Uniswap V3 pool.
interface IUniswapV3Pool {
    /// @notice Sends the output, calls `uniswapV3SwapCallback` on the caller, and reverts unless the input is there.
    /// @param recipient Who gets the output.
    /// @param zeroForOne Whether token0 is sold.
    /// @param amountSpecified What is sold, or the negative of what is bought.
    /// @param sqrtPriceLimitX96 The swap stops at this price, even if it is not done.
    /// @param data Comes back in the callback.
    /// @return amount0 How the pool's token0 changed.
    /// @return amount1 How the pool's token1 changed.
    function swap(
        address recipient,
        bool zeroForOne,
        int256 amountSpecified,
        uint160 sqrtPriceLimitX96,
        bytes calldata data
    ) external returns (int256 amount0, int256 amount1);
}
